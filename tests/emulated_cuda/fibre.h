// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Contexts of execution with a stack of their own, between which one thread of the operating system switches. x86-64
// has fibre_x86_64.cpp; other processors have fibre_ucontext.cpp, which is slower.
#pragma once

#include <cstddef>
#include <memory>

namespace roentgen::emulated {

/// A stack with what a switch saves. Stays on the operating system's thread that made it.
class Fibre {
 public:
  /// The calling thread itself, with its own stack.
  Fibre();
  /// A new stack, guarded against overflow, on which the first switch calls `entry`. `entry` never returns.
  explicit Fibre(void (*entry)());
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  /// Leaves `from`, which is running, and goes on in `to`. Returns when something switches back to `from`.
  static void switch_to(Fibre& from, Fibre& to);
  /// Lowest address and size of the stack; null and 0: the thread's own.
  [[nodiscard]] std::byte* stack() const { return stack_; }
  [[nodiscard]] std::size_t stack_bytes() const { return stack_bytes_; }

 private:
  struct Registers;
  std::byte* stack_ = nullptr;
  std::size_t stack_bytes_ = 0;
  std::unique_ptr<Registers> registers_;
};

}  // namespace roentgen::emulated
