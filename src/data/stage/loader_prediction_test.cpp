// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Loading for predictions: every sample once, in order; unreadable samples are listed and do not stop the run.
#include "data/stage/loader_testing.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

TEST_F(LoaderTest, names_bad_rows_in_prediction_and_goes_on) {
  damage(3);
  damage(11, "");
  const LoaderOptions wanted = options(LoadMode::Prediction);
  Slots slots = slots_for(wanted);
  Loader loader(dataset_, everything(), wanted, slots.all());
  std::vector<std::uint32_t> samples;
  std::vector<std::uint32_t> bad;
  while (const auto batch = loader.next()) {
    for (const BadRow& row : batch->bad) {
      bad.push_back(batch->samples[static_cast<std::size_t>(row.row)]);
      EXPECT_THAT(row.reason, HasSubstr(fmt::format(" {}.png: expected ", bad.back())));
      const std::size_t row_bytes = slot_bytes(wanted.preprocess, wanted.dtype);
      const auto image = std::span(slots.images(batch->slot)).subspan(static_cast<std::size_t>(row.row) * row_bytes);
      EXPECT_TRUE(std::ranges::all_of(image.first(row_bytes), [](std::byte b) { return b == std::byte{0}; }));
    }
    samples.insert(samples.end(), batch->samples.begin(), batch->samples.end());
    loader.release(batch->slot);
  }
  EXPECT_EQ(samples, everything());
  EXPECT_THAT(bad, testing::ElementsAre(3U, 11U));
}

TEST_F(LoaderTest, gives_the_same_pixels_in_prediction_as_in_evaluation) {
  EXPECT_EQ(run(options(LoadMode::Prediction)), run(options(LoadMode::Evaluation)));
}

}  // namespace
}  // namespace roentgen::data
