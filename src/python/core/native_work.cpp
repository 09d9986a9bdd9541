// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "python/core/native_work.h"

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <utility>

namespace roentgen::python {
namespace {

struct Work {
  Work();

  std::atomic<bool> is_ending = false;
  std::atomic<std::int64_t> calls = 0;
  std::mutex mutex;
  std::set<const StopAtEnd*> stops;  // guarded by mutex
};

Work& work() {
  static Work all;
  return all;
}

// Resets the state in a forked child. It has one thread, so no other call is running and there is no thread to stop.
Work::Work() {
  ::pthread_atfork([] { work().mutex.lock(); }, [] { work().mutex.unlock(); },
                   [] {
                     work().calls = 0;
                     work().stops.clear();
                     work().mutex.unlock();
                   });
}

}  // namespace

const char* InterpreterEnds::what() const noexcept { return "roentgen: the Python interpreter is ending"; }

// Raises the count before reading the flag, while end_native_work() sets the flag before reading the count. So at least
// one of the two notices the other.
CountedCall::CountedCall() {
  ++work().calls;
  if (!work().is_ending) return;
  --work().calls;
  work().calls.notify_all();
  throw InterpreterEnds();
}

CountedCall::~CountedCall() {
  --work().calls;
  work().calls.notify_all();
}

StopAtEnd::StopAtEnd(std::function<void()> stop) : stop_(std::move(stop)) {
  const std::scoped_lock lock(work().mutex);
  work().stops.insert(this);
}

StopAtEnd::~StopAtEnd() {
  const std::scoped_lock lock(work().mutex);
  work().stops.erase(this);
}

void throw_if_interpreter_ends() {
  if (work().is_ending) throw InterpreterEnds();
}

void end_native_work() {
  work().is_ending = true;
  for (std::int64_t calls = work().calls; calls > 0; calls = work().calls) work().calls.wait(calls);
  const std::scoped_lock lock(work().mutex);
  for (const StopAtEnd* each : work().stops) each->stop_();
  work().stops.clear();
}

}  // namespace roentgen::python
