// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Native calls at the end of the interpreter. Daemon threads may still work when Python ends, and the process then
// destroys the objects that they use. So the interpreter's end stops them, waits for them, and admits no new calls.
#pragma once

#include <exception>
#include <functional>

namespace roentgen::python {

/// Thrown by a call that runs or begins while the interpreter ends.
class InterpreterEnds : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override;
};

/// A native call, for as long as it lives. Thread-safe.
class CountedCall {
 public:
  /// InterpreterEnds once end_native_work() has begun.
  CountedCall();
  ~CountedCall();
  CountedCall(const CountedCall&) = delete;
  CountedCall& operator=(const CountedCall&) = delete;
};

/// Stops threads that outlive the calls that started them: end_native_work() calls `stop` once, unless this was
/// destroyed before. Thread-safe. A forked process calls none of those made before the fork.
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

/// Asks calls under way to end, refuses new ones, waits until none is left, and stops the threads of every StopAtEnd.
/// For the thread that ends the interpreter, without the GIL and outside of any CountedCall.
void end_native_work();

}  // namespace roentgen::python
