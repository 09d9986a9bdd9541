// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Implementation for -fsanitize=thread, selected by CMake.
#include <sanitizer/tsan_interface.h>

#include "tests/emulated_cuda/sanitizer.h"

namespace roentgen::emulated::sanitizer {

const bool has_threads = true;
const bool has_poison = false;
void* make_thread() { return __tsan_create_fiber(0); }
void* this_thread() { return __tsan_get_current_fiber(); }
void before_switch(LeftStack&, const Fibre&, void* thread) {
  __tsan_switch_to_fiber(thread, __tsan_switch_to_fiber_no_sync);
}
void after_switch(LeftStack*) {}
void release(void* object) { __tsan_release(object); }
void acquire(void* object) { __tsan_acquire(object); }
void poison(const void*, std::size_t) {}
void unpoison(const void*, std::size_t) {}

}  // namespace roentgen::emulated::sanitizer
