// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Memory plan: one arena for all tensors of a step, with offsets such that tensors alive at the same time never
// overlap.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace roentgen::engine {

/// Size of a tensor and the plan entries during which it is alive: [first, last], both included. A tensor with first <
/// 0 or of 0 bytes is never alive; its offset is 0.
struct Lifetime {
  std::size_t bytes = 0;  ///< size of the tensor; 0: no memory
  int first = -1;         ///< first entry that needs the tensor; negative: never alive
  int last = -1;          ///< last entry that needs the tensor
};

/// Returns a byte offset for each lifetime, all in one arena, each a multiple of `alignment` (at least 1). Two tensors
/// that are alive at the same entry do not overlap. Greedy: places the largest tensors first, each into the tightest
/// gap (Pisarchyk & Lee 2020, arXiv 2001.03288, algorithm 3), in O(n^2). Equal lifetimes give equal offsets.
[[nodiscard]] std::vector<std::size_t> assign_offsets(std::span<const Lifetime> lifetimes, std::size_t alignment);

/// Bytes that the arena needs for these offsets: the largest end of a tensor.
[[nodiscard]] std::size_t arena_bytes(std::span<const Lifetime> lifetimes, std::span<const std::size_t> offsets);

}  // namespace roentgen::engine
