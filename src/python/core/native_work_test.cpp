// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests of the end of a process, each in a child process.
#include "python/core/native_work.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <semaphore>
#include <thread>

namespace roentgen::python {
namespace {

// Runs `body` in a forked process. Returns its exit status, which is 0 if `body` returns true.
template <typename Body>
int status_of(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool is_refused() {
  try {
    const CountedCall call;
    return false;
  } catch (const InterpreterEnds&) {
    return true;
  }
}

TEST(NativeWork, the_end_waits_for_calls_and_refuses_new_ones) {
  EXPECT_EQ(status_of([] {
              std::binary_semaphore begun(0);
              std::atomic<bool> is_done = false;
              std::jthread daemon([&] {
                try {
                  const CountedCall call;
                  begun.release();
                  while (true) throw_if_interpreter_ends();
                } catch (const InterpreterEnds&) {
                  is_done = true;
                }
              });
              begun.acquire();
              end_native_work();
              daemon.join();
              return is_done && is_refused();
            }),
            0);
}

TEST(NativeWork, the_end_stops_threads_that_are_still_owned) {
  EXPECT_EQ(status_of([] {
              int stopped = 0;
              const StopAtEnd kept([&] { ++stopped; });
              {
                const StopAtEnd gone([&] { stopped += 10; });
              }
              end_native_work();
              return stopped == 1;
            }),
            0);
}

TEST(NativeWork, a_forked_process_waits_for_no_call_of_its_parent) {
  const CountedCall call;
  int stopped = 0;
  const StopAtEnd kept([&] { ++stopped; });
  EXPECT_EQ(status_of([&] {
              end_native_work();
              return stopped == 0 && is_refused();
            }),
            0);
  EXPECT_FALSE(is_refused());
}

}  // namespace
}  // namespace roentgen::python
