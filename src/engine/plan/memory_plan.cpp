// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/memory_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/error.h"

namespace roentgen::engine {
namespace {
std::size_t round_up(std::size_t bytes, std::size_t alignment) {
  RG_ASSERT(bytes <= std::numeric_limits<std::size_t>::max() - alignment);
  return (bytes + alignment - 1) / alignment * alignment;
}

bool is_alive(const Lifetime& tensor) { return tensor.bytes > 0 && tensor.first >= 0; }

/// Offset of the smallest gap of at least `bytes` between the tensors that are alive together with `tensor`. If there
/// is no such gap, the end of these tensors. `placed` holds indices of placed tensors in order of offset.
std::size_t find_place(const Lifetime& tensor, std::span<const Lifetime> lifetimes, std::span<const std::size_t> placed,
                       std::span<const std::size_t> offsets, std::size_t alignment) {
  const std::size_t bytes = round_up(tensor.bytes, alignment);
  std::size_t end = 0;
  std::size_t best = 0;
  std::size_t best_gap = std::numeric_limits<std::size_t>::max();
  for (const std::size_t other : placed) {
    if (lifetimes[other].last < tensor.first || lifetimes[other].first > tensor.last) continue;
    if (offsets[other] >= end) {
      const std::size_t gap = offsets[other] - end;
      if (gap >= bytes && gap < best_gap) {
        best_gap = gap;
        best = end;
      }
    }
    end = std::max(end, offsets[other] + round_up(lifetimes[other].bytes, alignment));
  }
  return best_gap == std::numeric_limits<std::size_t>::max() ? end : best;
}
}  // namespace

std::vector<std::size_t> assign_offsets(std::span<const Lifetime> lifetimes, std::size_t alignment) {
  RG_ASSERT(alignment >= 1);
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if (lifetimes[a].bytes != lifetimes[b].bytes) return lifetimes[a].bytes > lifetimes[b].bytes;
    return lifetimes[a].first < lifetimes[b].first;
  });
  std::vector<std::size_t> offsets(lifetimes.size(), 0);
  std::vector<std::size_t> placed;
  placed.reserve(lifetimes.size());
  for (const std::size_t index : order) {
    const Lifetime& tensor = lifetimes[index];
    if (!is_alive(tensor)) continue;
    RG_ASSERT(tensor.last >= tensor.first);
    offsets[index] = find_place(tensor, lifetimes, placed, offsets, alignment);
    const auto by_offset = [&](std::size_t a, std::size_t b) { return offsets[a] < offsets[b]; };
    placed.insert(std::ranges::upper_bound(placed, index, by_offset), index);
  }
  return offsets;
}

std::size_t arena_bytes(std::span<const Lifetime> lifetimes, std::span<const std::size_t> offsets) {
  RG_ASSERT(lifetimes.size() == offsets.size());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    if (is_alive(lifetimes[i])) bytes = std::max(bytes, offsets[i] + lifetimes[i].bytes);
  }
  return bytes;
}

}  // namespace roentgen::engine
