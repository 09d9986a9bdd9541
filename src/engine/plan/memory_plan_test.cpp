// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/memory_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace roentgen::engine {
namespace {
bool share_an_entry(const Lifetime& a, const Lifetime& b) {
  return a.bytes > 0 && b.bytes > 0 && a.first >= 0 && b.first >= 0 && a.first <= b.last && b.first <= a.last;
}

bool share_a_byte(const Lifetime& a, std::size_t offset_a, const Lifetime& b, std::size_t offset_b) {
  return offset_a < offset_b + b.bytes && offset_b < offset_a + a.bytes;
}

bool is_valid(const std::vector<Lifetime>& tensors, const std::vector<std::size_t>& offsets) {
  for (std::size_t a = 0; a < tensors.size(); ++a) {
    for (std::size_t b = a + 1; b < tensors.size(); ++b) {
      if (share_an_entry(tensors[a], tensors[b]) && share_a_byte(tensors[a], offsets[a], tensors[b], offsets[b])) {
        return false;
      }
    }
  }
  return true;
}

rc::Gen<std::vector<Lifetime>> any_lifetimes() {
  const auto tensor = rc::gen::map(
      rc::gen::tuple(rc::gen::inRange<std::size_t>(0, 5000), rc::gen::inRange(-1, 40), rc::gen::inRange(0, 40)),
      [](const std::tuple<std::size_t, int, int>& drawn) {
        const auto [bytes, first, length] = drawn;
        return Lifetime{.bytes = bytes, .first = first, .last = first < 0 ? -1 : first + length};
      });
  return rc::gen::container<std::vector<Lifetime>>(tensor);
}

/// Lifetimes in forward and backward of a dense block. The output of every layer (a segment) lives until the backward
/// of that layer ends. A normalised concatenation and a bottleneck live briefly in both directions.
std::vector<Lifetime> dense_block(int layers, std::size_t pixels) {
  std::vector<Lifetime> tensors;
  const int end = 6 * layers;
  tensors.push_back({.bytes = 64 * 4 * pixels, .first = 0, .last = end});
  for (int i = 0; i < layers; ++i) {
    const int forward = 3 * i;
    const int backward = end - 3 * i - 3;
    const std::size_t concat = (64 + 32 * static_cast<std::size_t>(i)) * 4 * pixels;
    const std::size_t bottleneck = std::size_t{128} * 4 * pixels;
    tensors.push_back({.bytes = concat, .first = forward, .last = forward + 1});
    tensors.push_back({.bytes = bottleneck, .first = forward + 1, .last = backward + 1});
    tensors.push_back({.bytes = std::size_t{32} * 4 * pixels, .first = forward + 2, .last = backward + 2});
    tensors.push_back({.bytes = std::size_t{32} * 4 * pixels, .first = forward + 2, .last = backward + 2});
    tensors.push_back({.bytes = bottleneck, .first = backward, .last = backward + 1});
    tensors.push_back({.bytes = concat, .first = backward + 1, .last = backward + 2});
  }
  return tensors;
}

/// Lower bound of an arena's size: the largest sum of live bytes in an entry, each rounded up to `alignment`.
std::size_t lower_bound_bytes(std::span<const Lifetime> lifetimes, std::size_t alignment) {
  std::map<int, std::size_t> born;
  std::map<int, std::size_t> died;
  for (const Lifetime& tensor : lifetimes) {
    if (tensor.bytes == 0 || tensor.first < 0) continue;
    const std::size_t bytes = (tensor.bytes + alignment - 1) / alignment * alignment;
    born[tensor.first] += bytes;
    died[tensor.last] += bytes;
  }
  std::size_t alive = 0;
  std::size_t most = 0;
  auto dying = died.begin();
  for (const auto& [entry, bytes] : born) {
    for (; dying != died.end() && dying->first < entry; ++dying) alive -= dying->second;
    alive += bytes;
    most = std::max(most, alive);
  }
  return most;
}

std::size_t sum_of_bytes(const std::vector<Lifetime>& tensors, std::size_t alignment) {
  return std::accumulate(tensors.begin(), tensors.end(), std::size_t{0}, [&](std::size_t sum, const Lifetime& tensor) {
    return sum + (tensor.bytes + alignment - 1) / alignment * alignment;
  });
}
}  // namespace

RC_GTEST_PROP(MemoryPlan, no_two_live_tensors_overlap, ()) {
  const auto tensors = *any_lifetimes();
  const auto alignment = *rc::gen::element<std::size_t>(1, 64, 4096);
  RC_ASSERT(is_valid(tensors, assign_offsets(tensors, alignment)));
}

RC_GTEST_PROP(MemoryPlan, offsets_are_aligned, ()) {
  const auto tensors = *any_lifetimes();
  const auto alignment = *rc::gen::element<std::size_t>(1, 3, 64, 4096);
  for (const std::size_t offset : assign_offsets(tensors, alignment)) RC_ASSERT(offset % alignment == 0U);
}

RC_GTEST_PROP(MemoryPlan, arena_lies_between_lower_bound_and_sum, ()) {
  const auto tensors = *any_lifetimes();
  const std::size_t arena = arena_bytes(tensors, assign_offsets(tensors, 64));
  RC_ASSERT(arena <= sum_of_bytes(tensors, 64));
  RC_ASSERT(arena >= lower_bound_bytes(tensors, 1));
}

RC_GTEST_PROP(MemoryPlan, lower_bound_is_the_largest_sum_over_the_entries, ()) {
  const auto tensors = *any_lifetimes();
  std::size_t most = 0;
  for (int entry = 0; entry < 80; ++entry) {
    std::size_t alive = 0;
    for (const Lifetime& tensor : tensors) {
      if (tensor.first >= 0 && tensor.first <= entry && entry <= tensor.last) alive += tensor.bytes;
    }
    most = std::max(most, alive);
  }
  RC_ASSERT(lower_bound_bytes(tensors, 1) == most);
}

TEST(MemoryPlan, tensors_that_never_meet_share_memory) {
  const std::vector<Lifetime> tensors{{100, 0, 1}, {100, 2, 3}, {100, 4, 4}};
  EXPECT_EQ(arena_bytes(tensors, assign_offsets(tensors, 1)), 100U);
}

TEST(MemoryPlan, an_entry_in_common_is_enough_to_keep_apart) {
  const std::vector<Lifetime> tensors{{100, 0, 1}, {100, 1, 2}};
  EXPECT_EQ(arena_bytes(tensors, assign_offsets(tensors, 1)), 200U);
}

TEST(MemoryPlan, nothing_needs_nothing) {
  EXPECT_TRUE(assign_offsets({}, 64).empty());
  const std::vector<Lifetime> never_alive{{.bytes = 10}, {.bytes = 0, .first = 0, .last = 4}};
  EXPECT_EQ(arena_bytes(never_alive, assign_offsets(never_alive, 64)), 0U);
}

TEST(MemoryPlan, takes_the_tightest_gap) {
  // At entry 5, the dead tensors of 300 and 200 bytes leave gaps between the live ones of 250 and 190. The tensor of
  // 150 bytes fits best into the gap of 200.
  const std::vector<Lifetime> tensors{{300, 0, 1}, {250, 0, 5}, {200, 0, 1}, {190, 0, 5}, {150, 4, 5}};
  const auto offsets = assign_offsets(tensors, 1);
  EXPECT_EQ(offsets[4], offsets[2]);
}

TEST(MemoryPlan, dense_block_comes_within_a_tenth_of_the_lower_bound) {
  for (const int layers : {6, 12, 24, 58}) {
    const auto tensors = dense_block(layers, 28 * 28);
    const auto offsets = assign_offsets(tensors, 64);
    ASSERT_TRUE(is_valid(tensors, offsets));
    const auto bound = static_cast<double>(lower_bound_bytes(tensors, 64));
    const double ratio = static_cast<double>(arena_bytes(tensors, offsets)) / bound;
    RecordProperty("ratio_" + std::to_string(layers), std::to_string(ratio));
    std::printf("dense block of %d layers: arena / lower bound = %.4f\n", layers, ratio);
    EXPECT_LE(ratio, 1.10);
  }
}

}  // namespace roentgen::engine
