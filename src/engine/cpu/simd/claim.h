// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Memory of a step is used for one tensor after another. A line that a thread is about to write may be in the cache of
// another core, and a store waits for it. Measured on a Zen 4, a line that two cores write in turns moves in 30 ns
// within a shared cache, and in 170 ns between two chips. Lines claimed in time arrive while something else is
// computed.
#pragma once

#include <cstdint>

namespace roentgen::engine::cpu::simd {

/// Takes the cache line of `at` into this core's caches to write it, and does not wait for it. Not for loops that do
/// little else than store: there it costs more than it saves.
inline void claim(const void* at) {
#if defined(__x86_64__)
  // The compiler has no word for it on the baseline; a processor without it does nothing.
  asm volatile("prefetchw (%0)" : : "r"(at));
#else
  __builtin_prefetch(at, 1);
#endif
}

}  // namespace roentgen::engine::cpu::simd
