// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Execution contexts with their own stacks, between which one operating-system thread switches. x86-64 uses
// fibre_x86_64.cpp; other processors use fibre_ucontext.cpp, which is slower.
#pragma once

#include <cstddef>
#include <memory>

namespace roentgen::emulated {

/// A stack with the registers that a switch saves. Stays on the operating-system thread that created it.
class Fibre {
 public:
  /// Represents the calling thread, with its own stack.
  Fibre();
  /// Creates a stack with a guard page. The first switch to it calls `entry`, which must never return.
  explicit Fibre(void (*entry)());
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  /// Suspends `from`, which must be running, and continues in `to`. Returns when something switches back to `from`.
  static void switch_to(Fibre& from, Fibre& to);
  /// Lowest address and size of the stack; null and 0 for the thread's own stack.
  [[nodiscard]] std::byte* stack() const { return stack_; }
  [[nodiscard]] std::size_t stack_bytes() const { return stack_bytes_; }

 private:
  struct Registers;
  std::byte* stack_ = nullptr;
  std::size_t stack_bytes_ = 0;
  std::unique_ptr<Registers> registers_;
};

}  // namespace roentgen::emulated
