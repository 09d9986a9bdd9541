// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Implementation for -fsanitize=address, selected by CMake.
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include "tests/emulated_cuda/sanitizer.h"

namespace roentgen::emulated::sanitizer {
namespace {
// Bounds of the thread's own stack, which the sanitizer reports to the first fibre.
const void* home_stack = nullptr;
std::size_t home_stack_bytes = 0;
}  // namespace

const bool has_threads = false;
const bool has_poison = true;
void* make_thread() { return nullptr; }
void* this_thread() { return nullptr; }

void before_switch(LeftStack& left, const Fibre& to, void*) {
  const bool is_home = to.stack() == nullptr;
  __sanitizer_start_switch_fiber(&left.shadow, is_home ? home_stack : to.stack(),
                                 is_home ? home_stack_bytes : to.stack_bytes());
}

void after_switch(LeftStack* left) {
  const void* previous = nullptr;
  std::size_t previous_bytes = 0;
  __sanitizer_finish_switch_fiber(left != nullptr ? left->shadow : nullptr, &previous, &previous_bytes);
  if (home_stack == nullptr) home_stack = previous, home_stack_bytes = previous_bytes;
}

void release(void*) {}
void acquire(void*) {}
void poison(const void* bytes, std::size_t count) { __asan_poison_memory_region(bytes, count); }
void unpoison(const void* bytes, std::size_t count) { __asan_unpoison_memory_region(bytes, count); }

}  // namespace roentgen::emulated::sanitizer
