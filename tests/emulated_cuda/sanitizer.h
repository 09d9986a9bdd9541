// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tells a sanitizer about fibres and shared memory. CMake selects sanitizer_none.cpp, sanitizer_address.cpp or
// sanitizer_thread.cpp. The emulator itself is never compiled with -fsanitize=thread.
#pragma once

#include <cstddef>

#include "tests/emulated_cuda/fibre.h"

namespace roentgen::emulated::sanitizer {

/// True if the sanitizer treats each CUDA thread as a thread and finds races between them. Each CUDA thread then needs
/// its own fibre.
extern const bool has_threads;
/// True if bytes outside of arrays in shared memory are poisoned, so that no canaries are needed.
extern const bool has_poison;

/// Creates a sanitizer thread; null without has_threads.
[[nodiscard]] void* make_thread();
/// The sanitizer's thread for the calling thread.
[[nodiscard]] void* this_thread();

/// Bounds of the stack that a switch left; the fibre that left it keeps them.
struct LeftStack {
  void* shadow = nullptr;
};
/// Announces a switch to a fibre that runs as the sanitizer thread `thread`. `home` is the fibre of the calling thread.
void before_switch(LeftStack& left, const Fibre& to, void* thread);
/// Completes the switch in the fibre that continues; `left` is null in a new fibre.
void after_switch(LeftStack* left);

/// Orders threads for the sanitizer: writes before release() are visible after acquire() of the same object.
void release(void* object);
void acquire(void* object);

/// Makes accesses to these bytes errors (poison), or allows them again (unpoison).
void poison(const void* bytes, std::size_t count);
void unpoison(const void* bytes, std::size_t count);

}  // namespace roentgen::emulated::sanitizer
