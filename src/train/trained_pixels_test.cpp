// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/trained_pixels.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "train/ranks.h"
#include "train/ranks_testing.h"

namespace roentgen::train {
namespace {

using Texts = std::vector<std::string>;

TEST(TrainedPixels, are_the_hashes_of_used_images_and_of_the_resume_file) {
  TrainedPixels pixels(4, Texts{"00000000000000aa", "ffffffffffffffff"});
  for (const std::uint32_t sample : {0U, 1U, 3U}) pixels.hashes().set(sample, sample == 3 ? 0xAA : 5 - sample);
  const Ranks ranks(nullptr);
  EXPECT_EQ(pixels.list(ranks), (Texts{"00000000000000aa", "ffffffffffffffff"})) << "loaded, but not used";
  pixels.add(std::vector<std::uint32_t>{1, 0, 2, 3});
  const Texts all{"0000000000000004", "0000000000000005", "00000000000000aa", "ffffffffffffffff"};
  EXPECT_EQ(pixels.list(ranks), all) << "sample 2 is blank, sample 3 was known";
  EXPECT_EQ(pixels.list(ranks), all);
}

TEST(TrainedPixels, of_all_ranks_are_on_the_first_and_are_sent_once) {
  expect_none(as_ranks(3, [](dist::CommThread& comm) {
    const Ranks ranks(&comm);
    const auto rank = static_cast<std::uint32_t>(comm.rank());
    TrainedPixels pixels(5, rank == 0 ? Texts{"00000000000000aa"} : Texts{});
    pixels.hashes().set(rank, rank + 1);
    pixels.hashes().set(4, 9);
    const auto expect_list = [&](const Texts& expected) {
      EXPECT_EQ(pixels.list(ranks), rank == 0 ? expected : Texts{});
    };
    pixels.add(std::vector<std::uint32_t>{rank});
    expect_list({"0000000000000001", "0000000000000002", "0000000000000003", "00000000000000aa"});
    pixels.hashes().set(rank, 100);  // would appear in the list if it was sent again
    pixels.add(std::vector<std::uint32_t>{rank, 4});
    expect_list({"0000000000000001", "0000000000000002", "0000000000000003", "0000000000000009", "00000000000000aa"});
  }));
}

}  // namespace
}  // namespace roentgen::train
