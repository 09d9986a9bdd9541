// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Interrupts long work that runs without the GIL (Python's global interpreter lock).
#pragma once

#include <chrono>

namespace roentgen::python {

/// Throws KeyboardInterrupt, or the error that a signal handler raised, if an interrupt is pending. Throws
/// InterpreterEnds on any thread once the interpreter ends. Call it between batches, without the GIL.
void throw_if_interrupted();

/// Calls throw_if_interrupted() at most every 20 ms, for steps of microseconds, because it must wait for the GIL. For
/// use by one thread.
class FrequentInterruptCheck {
 public:
  /// Throws as throw_if_interrupted().
  void operator()();

 private:
  std::chrono::steady_clock::time_point asked_{};
};

}  // namespace roentgen::python
