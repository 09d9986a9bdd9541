// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Implementation without a sanitizer, selected by CMake.
#include "tests/emulated_cuda/sanitizer.h"

namespace roentgen::emulated::sanitizer {

const bool has_threads = false;
const bool has_poison = false;
void* make_thread() { return nullptr; }
void* this_thread() { return nullptr; }
void before_switch(LeftStack&, const Fibre&, void*) {}
void after_switch(LeftStack*) {}
void release(void*) {}
void acquire(void*) {}
void poison(const void*, std::size_t) {}
void unpoison(const void*, std::size_t) {}

}  // namespace roentgen::emulated::sanitizer
