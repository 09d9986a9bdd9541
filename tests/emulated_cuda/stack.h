// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Allocates the memory of a fibre's stack.
#pragma once

#include <cstddef>

namespace roentgen::emulated {

inline constexpr std::size_t kStackBytes = std::size_t{64} << 10;

/// Allocates kStackBytes of memory above a guard page. Throws std::bad_alloc on failure.
[[nodiscard]] std::byte* allocate_stack();
void free_stack(std::byte* stack);

}  // namespace roentgen::emulated
