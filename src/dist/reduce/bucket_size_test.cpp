// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests which averages have the same bits in buckets of any size.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "dist/reduce/reducer_testing.h"

namespace roentgen::dist {
namespace {

// Averages the vectors in buckets that end at `ends`, several at once, and joins the results of rank 0.
std::vector<float> averaged_in_buckets(const Vectors& all, const std::vector<std::size_t>& ends,
                                       const ReduceOptions& options, unsigned seed) {
  std::vector<Vectors> buckets;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    Vectors& bucket = buckets.emplace_back();
    for (const auto& each : all) {
      bucket.emplace_back(each.begin() + static_cast<std::ptrdiff_t>(begin),
                          each.begin() + static_cast<std::ptrdiff_t>(end));
    }
    begin = end;
  }
  std::vector<Vectors*> pointers;
  for (Vectors& bucket : buckets) pointers.push_back(&bucket);
  Group(static_cast<int>(all.size()), options, seed).average(pointers);
  std::vector<float> joined;
  for (const Vectors& bucket : buckets) joined.insert(joined.end(), bucket[0].begin(), bucket[0].end());
  return joined;
}

TEST(Reducer, bits_depend_on_the_size_of_buckets_only_where_it_says_so) {
  constexpr std::size_t kCount = 240;
  std::mt19937 random(20261127);
  const auto seed = [&] { return static_cast<unsigned>(random()); };
  std::set<std::string> free, bound;
  for (const std::string_view name : reduce_names()) {
    for (const char* wire : {"f32", "bf16"}) {
      for (int size = 1; size <= 4; ++size) {
        for (const auto& hosts : host_maps(size)) {
          const ReduceOptions options{.algorithm = std::string(name), .wire = wire, .hosts = hosts, .segment = 32};
          if (name == "allreduce" && options.wire == "f32") continue;  // MPI's order is not known here
          SCOPED_TRACE(testing::Message() << name << ", " << wire << ", ranks " << size << ", seed 20261127");
          const bool is_free = Group(size, options, 1).reducers[0]->is_free_of_bucket_size();
          const Vectors all = random_vectors(size, kCount, seed());
          const std::vector<float> whole = averaged_in_buckets(all, {kCount}, options, seed());
          for (int cut = 0; cut < 4; ++cut) {
            std::set<std::size_t> ends{kCount};
            while (ends.size() < 2 + 4 * static_cast<std::size_t>(cut)) ends.insert(1 + random() % kCount);
            const bool is_same = averaged_in_buckets(all, {ends.begin(), ends.end()}, options, seed()) == whole;
            EXPECT_TRUE(is_same || !is_free) << ends.size() << " buckets";
            if (!is_same) bound.insert(options.algorithm + " " + wire);
          }
          if (is_free && size > 2) free.insert(options.algorithm);
        }
      }
    }
  }
  EXPECT_EQ(free, (std::set<std::string>{"exchange", "hierarchical", "tree"}));
  EXPECT_TRUE(bound.contains("ring f32")) << "such vectors show an order that changes";
  EXPECT_TRUE(bound.contains("exchange bf16")) << "a rank's own share is not rounded";
}

}  // namespace
}  // namespace roentgen::dist
