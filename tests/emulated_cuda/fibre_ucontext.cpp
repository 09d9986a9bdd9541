// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fibres on processors without their own implementation, by ucontext.
#include <ucontext.h>

#include <stdexcept>

#include "tests/emulated_cuda/fibre.h"
#include "tests/emulated_cuda/stack.h"

namespace roentgen::emulated {

struct Fibre::Registers {
  ucontext_t context{};
};

Fibre::Fibre() : registers_(std::make_unique<Registers>()) {}

Fibre::Fibre(void (*entry)())
    : stack_(allocate_stack()), stack_bytes_(kStackBytes), registers_(std::make_unique<Registers>()) {
  ucontext_t& context = registers_->context;
  if (getcontext(&context) != 0) throw std::runtime_error("getcontext failed");
  context.uc_stack.ss_sp = stack_;
  context.uc_stack.ss_size = stack_bytes_;
  context.uc_link = nullptr;
  makecontext(&context, entry, 0);
}

Fibre::~Fibre() {
  if (stack_ != nullptr) free_stack(stack_);
}

void Fibre::switch_to(Fibre& from, Fibre& to) { swapcontext(&from.registers_->context, &to.registers_->context); }

}  // namespace roentgen::emulated
