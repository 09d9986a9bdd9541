// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/plan/kernel_scratch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/aligned_buffer.h"

namespace roentgen::engine::cpu {
namespace {

constexpr int kThreads = 4;
using Range = std::pair<const std::byte*, std::int64_t>;

// Scratch with one part of each kind, and the number of bytes that the parts need.
struct Parts {
  KernelScratch scratch{kThreads};
  KernelScratch::Part whole = scratch.add(100);
  KernelScratch::Part own = scratch.add_own(65);
  KernelScratch::Part of_single = scratch.add_of_crews(200, kThreads);
  KernelScratch::Part of_pairs = scratch.add_of_crews(200, 2);
  KernelScratch::Part slots = scratch.add_shared(1, 3);

  [[nodiscard]] std::vector<Range> ranges() const {
    std::vector<Range> ranges{{scratch.at(whole), 100}};
    for (int thread = 0; thread < kThreads; ++thread) {
      ranges.emplace_back(scratch.at(own, thread), 65);
      ranges.emplace_back(scratch.at(of_single, thread), 200);
    }
    for (int crew = 0; crew < 2; ++crew) ranges.emplace_back(scratch.at(of_pairs, crew), 200);
    for (int slot = 0; slot < 3; ++slot) ranges.emplace_back(scratch.at(slots, slot), 1);
    return ranges;
  }
};

void expect_apart(std::vector<Range> ranges) {
  std::ranges::sort(ranges);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(ranges[i].first) % 64, 0U);
    if (i == 0) continue;
    EXPECT_GE(ranges[i].first, ranges[i - 1].first + ranges[i - 1].second);
  }
}

TEST(KernelScratch, asks_for_what_threads_share_and_for_what_one_of_them_has) {
  const ScratchBytes bytes = Parts().scratch.bytes();
  EXPECT_EQ(bytes.shared, 128U + 2 * 256U + 3 * 64U) << "what sub-teams of two threads have is in shared memory";
  EXPECT_EQ(bytes.own, 128U + 256U);
  EXPECT_EQ(bytes.total(kThreads), bytes.shared + kThreads * bytes.own);
}

TEST(KernelScratch, in_one_tensor_has_all_parts_apart) {
  Parts parts;
  runtime::AlignedBuffer memory(parts.scratch.bytes().total(kThreads));
  parts.scratch.bind(Addresses({memory.data()}), {.scratch = 0});
  const std::vector<Range> ranges = parts.ranges();
  expect_apart(ranges);
  for (const auto& [first, count] : ranges) {
    EXPECT_GE(first, memory.data());
    EXPECT_LE(first + count, memory.data() + memory.size());
  }
}

TEST(KernelScratch, of_a_thread_begins_where_that_of_other_kernels_does) {
  constexpr std::int64_t kStride = 4096;
  runtime::AlignedBuffer shared(4096), own(kThreads * kStride);
  Parts parts;
  KernelScratch other(kThreads);
  const KernelScratch::Part of_other = other.add_own(3000);
  const Addresses addresses({shared.data(), own.data()}, {}, kStride);
  for (KernelScratch* each : {&parts.scratch, &other}) each->bind(addresses, {.scratch = 0, .own_scratch = 1});
  expect_apart(parts.ranges());
  for (int thread = 0; thread < kThreads; ++thread) {
    EXPECT_EQ(parts.scratch.at(parts.own, thread), own.data() + thread * kStride);
    EXPECT_EQ(other.at(of_other, thread), own.data() + thread * kStride);
    EXPECT_GE(parts.scratch.at(parts.of_single, thread), own.data() + thread * kStride);
    EXPECT_LE(parts.scratch.at(parts.of_single, thread) + 200, own.data() + (thread + 1) * kStride);
  }
}

}  // namespace
}  // namespace roentgen::engine::cpu
