// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/standard_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "core/error.h"

namespace roentgen::cli {

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // open() returns the lowest free descriptor, which is `stream`.
    const int opened = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened < 0) return;
  }
}

void flush_output() {
  errno = 0;
  const bool is_flushed = std::fflush(stdout) == 0;
  const int code = errno;
  if (is_flushed && !is_output_lost()) return;
  throw DataError(lost_output_text(code == 0 ? "a write that failed before" : std::generic_category().message(code)));
}

bool is_output_lost() { return std::ferror(stdout) != 0; }

std::string lost_output_text(const std::string& cause) {
  return error_text("cli.main", "standard output", "space for the whole result", cause,
                    "writing to another disk (> FILE), or freeing disk space");
}

}  // namespace roentgen::cli
