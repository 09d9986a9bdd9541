// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Memory of a fibre's stack.
#pragma once

#include <cstddef>

namespace roentgen::emulated {

inline constexpr std::size_t kStackBytes = std::size_t{64} << 10;

/// kStackBytes of memory above a page that faults. std::bad_alloc when there is none.
[[nodiscard]] std::byte* allocate_stack();
void free_stack(std::byte* stack);

}  // namespace roentgen::emulated
