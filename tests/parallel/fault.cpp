// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One process of a group whose last process fails, for tests: fault absent|dies|stops|refuses [ALGORITHM [WIRE]]. The
// process that dies is a child of the process that mpirun knows; otherwise mpirun would end the others before they
// notice. Exit status 3: this process gave up with a CommError, which it prints.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "dist/comm_thread.h"
#include "dist/communicator.h"
#include "dist/launched.h"

namespace {

using namespace roentgen;

void meet(dist::CommThread& thread, std::int64_t bucket) {
  std::vector<float> gradients(1'000'000, 1.0F);
  thread.wait(
      thread.all_reduce_mean(runtime::host_span(gradients), runtime::reached_event(), {"gradient bucket", bucket}));
}

int run(std::string_view fault, const dist::ReduceOptions& reduce) {
  dist::CommThread thread([] { return dist::make_communicator("mpi"); }, std::chrono::milliseconds(500), reduce);
  meet(thread, 0);
  const bool is_faulty = thread.rank() == thread.size() - 1;
  if (is_faulty && fault == "absent") ::pause();
  if (is_faulty && fault == "dies") ::raise(SIGKILL);
  if (is_faulty && fault == "refuses") throw DataError("[data.read] a file: expected an image, got none");
  std::vector<float> gradients(1'000'000, 1.0F);
  const std::int64_t ticket =
      thread.all_reduce_mean(runtime::host_span(gradients), runtime::reached_event(), {"gradient bucket", 1});
  if (is_faulty && fault == "stops") ::raise(SIGSTOP);  // stops before, during or after the operation, by chance
  thread.wait(ticket);
  meet(thread, 2);
  return 0;
}

// Continues in a child of the last process. The parent waits until mpirun ends it.
void hide_from_mpirun() {
  const auto own = dist::launched_rank();
  if (!own || own->rank != own->size - 1) return;
  if (::fork() != 0) {
    while (true) ::pause();
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    dist::ReduceOptions reduce;
    if (argc > 2) reduce.algorithm = argv[2];
    if (reduce.algorithm == "hierarchical") reduce.hosts = {0, 1, 1};
    if (argc > 3) reduce.wire = argv[3];
    const std::string_view fault = argc > 1 ? argv[1] : "";
    if (fault == "dies") hide_from_mpirun();
    return run(fault, reduce);
  } catch (const CommError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
