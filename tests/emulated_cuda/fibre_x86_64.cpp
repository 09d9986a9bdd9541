// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fibres on x86-64: a switch saves the registers that a call preserves (System V ABI, section 3.2.1).
#include "tests/emulated_cuda/fibre.h"
#include "tests/emulated_cuda/stack.h"

// Saves the stack pointer at (rdi) and continues with the stack pointer in rsi.
extern "C" void roentgen_switch_stack(void** from, void* to);
asm(R"(
.pushsection .text
.globl roentgen_switch_stack
.hidden roentgen_switch_stack
.type roentgen_switch_stack, @function
roentgen_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size roentgen_switch_stack, . - roentgen_switch_stack
.popsection
)");

namespace roentgen::emulated {
namespace {
// Places the tops of stacks at different offsets in a page. At equal offsets they would compete for the same cache set.
constexpr std::size_t kCacheLine = 64, kColours = 60;
std::size_t next_colour = 0;
}  // namespace

struct Fibre::Registers {
  void* stack_pointer = nullptr;
};

Fibre::Fibre() : registers_(std::make_unique<Registers>()) {}

Fibre::Fibre(void (*entry)())
    : stack_(allocate_stack()), stack_bytes_(kStackBytes), registers_(std::make_unique<Registers>()) {
  next_colour = (next_colour + 7) % kColours;
  void** top = reinterpret_cast<void**>(stack_ + kStackBytes - kCacheLine * (1 + next_colour));
  *--top = nullptr;  // return address of entry(); also aligns its frame
  *--top = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  registers_->stack_pointer = top;
}

Fibre::~Fibre() {
  if (stack_ != nullptr) free_stack(stack_);
}

void Fibre::switch_to(Fibre& from, Fibre& to) {
  roentgen_switch_stack(&from.registers_->stack_pointer, to.registers_->stack_pointer);
}

}  // namespace roentgen::emulated
