// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/guarded_decode.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace roentgen::data {
namespace {

[[noreturn]] void run_child(std::span<std::int32_t> shared,
                            const std::function<bool(std::span<std::int32_t>)>& decode) {
  constexpr rlimit kNone{.rlim_cur = 0, .rlim_max = 0};
  static_cast<void>(::setrlimit(RLIMIT_CORE, &kNone));
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) static_cast<void>(::dup2(nowhere, STDERR_FILENO));
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(number, SIG_DFL);
  bool is_decoded = false;
  try {
    is_decoded = decode(shared);
  } catch (...) {
    is_decoded = false;
  }
  ::_exit(is_decoded ? 0 : 1);  // runs no destructors, because the objects belong to the parent
}

bool has_succeeded(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

bool decode_in_child(std::span<std::int32_t> samples, const std::function<bool(std::span<std::int32_t>)>& decode) {
  if (samples.empty()) return false;
  void* const memory =
      ::mmap(nullptr, samples.size_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, /*fd=*/-1, 0);
  if (memory == MAP_FAILED) return false;
  const std::span shared(static_cast<std::int32_t*>(memory), samples.size());
  const pid_t child = ::fork();
  if (child == 0) run_child(shared, decode);
  const bool is_decoded = child > 0 && has_succeeded(child);
  if (is_decoded) std::ranges::copy(shared, samples.begin());
  ::munmap(memory, samples.size_bytes());
  return is_decoded;
}

}  // namespace roentgen::data
