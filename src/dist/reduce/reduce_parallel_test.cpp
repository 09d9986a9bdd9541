// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests every algorithm of reduce_list.h over MPI, in a group of processes; a host map emulates two hosts.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <new>
#include <random>
#include <vector>

#include "dist/parallel_testing.h"
#include "dist/reduce/reducer.h"
#include "dist/reduce/wire.h"

namespace {
std::size_t allocations = 0;
}  // namespace

// Sanitizers replace operator new themselves, so this test could not count allocations.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace roentgen::dist {
namespace {

std::vector<float> values_of(int rank, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(rank) + 100);
  std::vector<float> values(count);
  for (float& value : values) value = (static_cast<float>(random() % 2'000'001) - 1e6F) * 1e-4F;
  return values;
}

std::vector<ReduceOptions> all_options() {
  std::vector<int> hosts;
  for (int rank = 0; rank < group->size(); ++rank) hosts.push_back(rank % 2);
  std::vector<ReduceOptions> all;
  for (const std::string_view name : reduce_names()) {
    for (const std::string_view wire : kWireNames) {
      all.push_back({.algorithm = std::string(name), .wire = std::string(wire)});
      all.push_back({.algorithm = std::string(name), .wire = std::string(wire), .hosts = hosts, .segment = 9'000});
    }
  }
  return all;
}

void expect_same_on_all(std::span<const float> values) {
  const auto own = std::as_bytes(values);
  std::vector<std::byte> all(own.size() * static_cast<std::size_t>(group->size()));
  group->all_gather(own, all, {"means of all"}).wait(kLong);
  for (int rank = 0; rank < group->size(); ++rank) {
    const auto theirs = std::span(all).subspan(own.size() * static_cast<std::size_t>(rank), own.size());
    EXPECT_TRUE(std::ranges::equal(own, theirs)) << rank;
  }
}

TEST(MpiReduce, every_way_gives_the_mean_and_the_same_bits) {
  constexpr std::size_t kCount = 300'011;  // more than one segment
  std::vector<std::vector<float>> given;
  for (int rank = 0; rank < group->size(); ++rank) given.push_back(values_of(rank, kCount));
  for (const ReduceOptions& options : all_options()) {
    SCOPED_TRACE(options.algorithm + ", " + options.wire + ", segment " + std::to_string(options.segment));
    Reducer reducer(*group, options);
    std::vector<float> values = given[static_cast<std::size_t>(group->rank())];
    reducer.all_reduce_mean(values, {"gradient bucket", 0}).wait(kLong);
    const double unit = wire_rounding(parse_wire(options.wire));
    for (std::size_t i = 0; i < kCount; i += 7) {
      double mean = 0.0, size = 0.0;
      for (const auto& each : given) {
        mean += static_cast<double>(each[i]) / group->size();
        size += std::abs(static_cast<double>(each[i])) / group->size();
      }
      ASSERT_NEAR(values[i], mean, size * (std::pow(1.0 + 1.01 * unit, group->size() + 1) - 1.0)) << i;
    }
    expect_same_on_all(values);
  }
}

TEST(MpiReduce, the_tree_is_the_pairwise_sum) {
  constexpr std::size_t kCount = 5'000;
  std::vector<std::vector<float>> sums;
  for (int rank = 0; rank < group->size(); ++rank) sums.push_back(values_of(rank, kCount));
  std::vector<float> values = sums[static_cast<std::size_t>(group->rank())];
  Reducer(*group, {.algorithm = "tree"}).all_reduce_mean(values, {"gradient bucket", 0}).wait(kLong);
  for (std::size_t distance = 1; distance < sums.size(); distance *= 2) {
    for (std::size_t rank = 0; rank + distance < sums.size(); rank += 2 * distance) {
      for (std::size_t i = 0; i < kCount; ++i) sums[rank][i] += sums[rank + distance][i];
    }
  }
  for (float& value : sums[0]) value *= 1.0F / static_cast<float>(group->size());
  EXPECT_EQ(values, sums[0]);
}

TEST(MpiReduce, drives_many_buckets_at_once_and_allocates_nothing_once_it_has) {
  constexpr std::size_t kBuckets = 24;
  std::vector<std::vector<float>> buckets(kBuckets);
  std::vector<Pending> pending;
  pending.reserve(kBuckets);
  for (const ReduceOptions& options : all_options()) {
    Reducer reducer(*group, options);
    std::size_t before = 0, during = 0;
    for (int step = 0; step < 4; ++step) {
      for (std::size_t i = 0; i < kBuckets; ++i) {
        buckets[i].assign(1 + 700 * i, static_cast<float>(i + static_cast<std::size_t>(group->rank())));
      }
      before = allocations;
      for (std::size_t i = 0; i < kBuckets; ++i) {
        pending.push_back(reducer.all_reduce_mean(buckets[i], {"gradient bucket", static_cast<std::int64_t>(i)}));
      }
      for (std::size_t i = kBuckets; i-- > 0;) pending[i].wait(kLong);
      pending.clear();
      during = allocations - before;
      for (std::size_t i = 0; i < kBuckets; ++i) {
        ASSERT_FLOAT_EQ(buckets[i].back(), static_cast<float>(i) + static_cast<float>(group->size() - 1) / 2.0F);
      }
    }
    EXPECT_EQ(during, 0U) << options.algorithm << ", " << options.wire;
  }
}

}  // namespace
}  // namespace roentgen::dist
