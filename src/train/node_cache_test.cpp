// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/node_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "data/source/dataset.h"
#include "data/stage/image_store.h"
#include "data/transform/preprocess.h"
#include "train/ranks.h"
#include "train/ranks_testing.h"

namespace roentgen::train {
namespace {

data::Dataset four_images() {
  data::Dataset dataset;
  dataset.samples.resize(4);
  for (std::size_t i = 0; i < 4; ++i) dataset.samples[i].id = std::to_string(i);
  return dataset;
}

/// Every rank decodes the sample of its own number, then counts the samples that its cache has.
std::vector<int> samples_found(const std::vector<std::string>& hosts, std::uint64_t share_bytes,
                               const std::function<void(int, data::Dataset&)>& change = {}) {
  std::vector<int> found(hosts.size());
  const auto errors = as_ranks(
      static_cast<int>(hosts.size()),
      [&](dist::CommThread& comm) {
        const Ranks ranks(&comm);
        data::Dataset dataset = four_images();
        if (change) change(ranks.rank(), dataset);
        const auto cache = make_memory_cache(ranks, dataset, data::Preprocess{}, share_bytes);
        data::Image memory;
        const auto decode = [](data::Image& image) -> Status {
          image.reset({.width_px = 10, .height_px = 10});
          return Done{};
        };
        const auto own = static_cast<std::uint32_t>(ranks.rank());
        EXPECT_TRUE(cache->get(own, data::ImageUse::Training, decode, memory).ok());
        static_cast<void>(ranks.gather("", {.name = "all have decoded"}));
        int count = 0;
        for (std::uint32_t sample = 0; sample < 4; ++sample) {
          count += cache->has(sample, data::ImageUse::Training) ? 1 : 0;
        }
        found[own] = count;
      },
      kLimit, hosts);
  expect_none(errors);
  return found;
}

using Counts = std::vector<int>;

TEST(NodeCache, is_shared_by_the_ranks_of_a_host) {
  EXPECT_EQ(samples_found({"a", "a", "a", "a"}, 1000), (Counts{4, 4, 4, 4}));
  EXPECT_EQ(samples_found({"a", "b", "a", "b"}, 1000), (Counts{2, 2, 2, 2}));
  EXPECT_EQ(samples_found({"a", "b", "b"}, 1000), (Counts{1, 2, 2})) << "a rank alone on its host has its own cache";
  EXPECT_EQ(samples_found({"a"}, 1000), (Counts{1}));
}

// An image has 100 bytes, which take 128: two shares of 64 bytes hold one, and four hold two.
TEST(NodeCache, is_as_large_as_the_shares_of_its_ranks) {
  EXPECT_EQ(samples_found({"a", "a"}, 64), (Counts{1, 1}));
  EXPECT_EQ(samples_found({"a", "a", "a", "a"}, 64), (Counts{2, 2, 2, 2}));
  EXPECT_EQ(samples_found({"a", "a"}, 0), (Counts{0, 0}));
}

TEST(NodeCache, of_ranks_with_other_images_is_not_shared) {
  const auto change = [](int rank, data::Dataset& dataset) {
    if (rank == 1) dataset.samples[3].id = "another";
  };
  EXPECT_EQ(samples_found({"a", "a", "b", "b"}, 1000, change), (Counts{1, 1, 2, 2}));
}

}  // namespace
}  // namespace roentgen::train
