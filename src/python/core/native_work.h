// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Ends native calls before the Python interpreter ends. Daemon threads may still work at that time, and the process
// then destroys the objects they use. So the interpreter's end stops these calls, waits for them, and admits no new
// ones.
#pragma once

#include <exception>
#include <functional>

namespace roentgen::python {

/// Thrown by a native call that runs or begins while the interpreter ends.
class InterpreterEnds : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override;
};

/// Registers a native call for the lifetime of this object. Thread-safe.
class CountedCall {
 public:
  /// Throws InterpreterEnds once end_native_work() has begun.
  CountedCall();
  ~CountedCall();
  CountedCall(const CountedCall&) = delete;
  CountedCall& operator=(const CountedCall&) = delete;
};

/// Stops threads that outlive the call that started them. end_native_work() calls `stop` once, unless this object is
/// already destroyed. Thread-safe. A forked process calls no `stop` that was registered before the fork.
class StopAtEnd {
 public:
  /// @param stop joins the threads; must not throw
  explicit StopAtEnd(std::function<void()> stop);
  ~StopAtEnd();
  StopAtEnd(const StopAtEnd&) = delete;
  StopAtEnd& operator=(const StopAtEnd&) = delete;

 private:
  friend void end_native_work();
  const std::function<void()> stop_;
};

/// Throws InterpreterEnds once end_native_work() has begun. Long calls use it between batches. Thread-safe.
void throw_if_interpreter_ends();

/// Asks running native calls to end, refuses new ones, waits until none is left, and calls every StopAtEnd. Called by
/// the thread that ends the interpreter, without the GIL and outside of any CountedCall.
void end_native_work();

}  // namespace roentgen::python
