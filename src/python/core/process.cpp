// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "python/core/process.h"

#include <unistd.h>

#include <atomic>

#include "core/error.h"

namespace roentgen::python {
namespace {

// Number of the first process that used threads, 0 if none has; a forked process inherits it.
std::atomic<int> working_process = 0;

}  // namespace

OwnProcess::OwnProcess() : process_(::getpid()) {}

bool OwnProcess::is_here() const { return process_ == ::getpid(); }

void OwnProcess::require(std::string_view what) const {
  if (is_here()) return;
  throw ConfigError(error_text("python.process", what, "use in the process that created it",
                               "a forked process, which lacks its threads",
                               "creating it in the new process, or multiprocessing's start method \"spawn\""));
}

void require_threads() {
  int first = 0;
  if (working_process.compare_exchange_strong(first, ::getpid()) || first == ::getpid()) return;
  throw ConfigError(error_text("python.process", "work with threads", "a new process",
                               "a process forked after Roentgen used threads, which could wait for ever",
                               "multiprocessing's start method \"spawn\""));
}

}  // namespace roentgen::python
