// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Notes to a sanitizer about fibres and shared memory. CMake picks sanitizer_none.cpp, sanitizer_address.cpp or
// sanitizer_thread.cpp. The emulator itself is never compiled with -fsanitize=thread.
#pragma once

#include <cstddef>

#include "tests/emulated_cuda/fibre.h"

namespace roentgen::emulated::sanitizer {

/// Each CUDA thread is a thread of the sanitizer, which then sees races: it needs a fibre of its own.
extern const bool has_threads;
/// Bytes outside of arrays in shared memory are poisoned, so no canaries are needed there.
extern const bool has_poison;

/// A thread of the sanitizer; null without has_threads.
[[nodiscard]] void* make_thread();
/// The calling thread.
[[nodiscard]] void* this_thread();

/// Bounds of a stack that was left, kept by who left it.
struct LeftStack {
  void* shadow = nullptr;
};
/// Announces a switch to a fibre that runs as `thread`. `home` is the fibre of the calling thread.
void before_switch(LeftStack& left, const Fibre& to, void* thread);
/// Ends the switch in the fibre that goes on; `left` is null in a new fibre.
void after_switch(LeftStack* left);

/// Order between threads: what came before release() is seen after acquire() of the same object.
void release(void* object);
void acquire(void* object);

/// Makes accesses to these bytes errors, or allows them.
void poison(const void* bytes, std::size_t count);
void unpoison(const void* bytes, std::size_t count);

}  // namespace roentgen::emulated::sanitizer
