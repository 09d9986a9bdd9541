// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Interrupts of long work that runs without Python's lock.
#pragma once

#include <chrono>

namespace roentgen::python {

/// Ends work at an interrupt. Throws KeyboardInterrupt, or the error that a signal handler raised; InterpreterEnds on
/// any thread once the interpreter ends. Call it between batches, without the GIL.
void throw_if_interrupted();

/// throw_if_interrupted() for steps of microseconds: asks Python, whose lock other threads may hold, at most every 20
/// ms. One thread.
class FrequentInterruptCheck {
 public:
  /// Throws as throw_if_interrupted().
  void operator()();

 private:
  std::chrono::steady_clock::time_point asked_{};
};

}  // namespace roentgen::python
