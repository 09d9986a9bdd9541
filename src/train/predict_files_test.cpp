// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/predict_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/random.h"
#include "data/image.h"
#include "data/source/image_list.h"
#include "data/source/source_testing.h"
#include "io/png_writer.h"
#include "train/flat_model_testing.h"

namespace roentgen::train {
namespace {

constexpr std::int64_t kSizePx = 8, kBatch = 2;
constexpr std::size_t kImages = 7;  // not a multiple of the batch size

/// Fixture with a model of two labels, on a device that starts to compute only when results are read.
class PredictFiles : public testing::Test {
 protected:
  PredictFiles() {
    engine_.form.on_call = [this](std::string_view call) { calls_.emplace_back(call); };
    executable_ = engine_.compile(flat_model(kBatch, kSizePx, 2), {.form = engine::Form::Inference});
    Random random(3, RandomStage::Test);
    std::vector<float> weights(2 * kSizePx * kSizePx);
    for (float& weight : weights) weight = static_cast<float>(random.normal() / 4.0);
    executable_->load(0, weights);
    executable_->load(1, std::vector<float>{0.1F, -0.2F});
    options_.preprocess = data::preset("unit");
    options_.preprocess.size_px = kSizePx;
    for (std::size_t i = 0; i < kImages; ++i) {
      for (std::byte& pixel : pixels_.emplace_back(kSizePx * kSizePx))
        pixel = static_cast<std::byte>(random.below(256));
    }
  }

  // Returns the probabilities in the order of the images, and expects that each has its image's number.
  std::vector<std::vector<float>> taken(const std::function<void(const PredictedBatch&)>& predict) {
    std::vector<std::vector<float>> all;
    predict([&](std::span<const PredictedImage> images) {
      for (const PredictedImage& image : images) {
        EXPECT_EQ(image.sample, all.size());
        reasons_.push_back(image.reason);
        all.push_back(image.probabilities);
      }
    });
    return all;
  }
  std::vector<std::vector<float>> predict_memory() {
    std::vector<data::Image> images;
    for (const auto& pixels : pixels_) {
      images.push_back(data::Image::borrow({.width_px = kSizePx, .height_px = kSizePx}, pixels));
    }
    return taken([&](const PredictedBatch& on_batch) { predict_images(*executable_, images, options_, on_batch); });
  }
  std::vector<std::vector<float>> predict_folder() {
    const data::ImageList list = data::list_images({folder_.path().string()});
    return taken(
        [&](const PredictedBatch& on_batch) { predict_files(*executable_, list.dataset, options_, on_batch); });
  }
  void write_pictures() const {
    for (std::size_t i = 0; i < kImages; ++i) {
      io::write_png(folder_.path() / fmt::format("a{}.png", i),
                    {.width_px = kSizePx, .height_px = kSizePx, .pixels = pixels_[i]});
    }
  }
  // Expects that the slot of the next batch is bound after each forward, before its results are read.
  void expect_overlap(std::size_t batches) const {
    std::vector<std::string> wanted{"bind_slot"};
    for (std::size_t i = 0; i < batches; ++i) {
      wanted.emplace_back("forward");
      if (i + 1 < batches) wanted.emplace_back("bind_slot");
      wanted.emplace_back("read");
    }
    EXPECT_EQ(calls_, wanted);
  }

  data::TestFolder folder_;
  ReferenceEngine engine_;
  std::unique_ptr<engine::Executable> executable_;
  PredictOptions options_;
  std::vector<std::vector<std::byte>> pixels_;
  std::vector<std::string> calls_, reasons_;
};

TEST_F(PredictFiles, of_files_and_of_memory_are_the_same) {
  write_pictures();
  const auto of_files = predict_folder();
  ASSERT_EQ(of_files.size(), kImages);
  EXPECT_EQ(of_files, predict_memory());
  EXPECT_NE(of_files[0], of_files[kImages - 1]);
}

TEST_F(PredictFiles, binds_the_next_batch_before_results_are_read) {
  write_pictures();
  static_cast<void>(predict_folder());
  expect_overlap(4);
  calls_.clear();
  static_cast<void>(predict_memory());
  expect_overlap(4);
}

TEST_F(PredictFiles, goes_on_behind_a_file_that_cannot_be_read) {
  write_pictures();
  const auto sound = predict_folder();
  reasons_.clear();
  static_cast<void>(folder_.write("a2.png", "no picture"));
  const auto got = predict_folder();
  ASSERT_EQ(got.size(), kImages);
  for (std::size_t i = 0; i < kImages; ++i) {
    if (i != 2) {
      EXPECT_EQ(got[i], sound[i]) << i;
    }
    EXPECT_EQ(reasons_[i].empty(), i != 2) << reasons_[i];
  }
  EXPECT_TRUE(got[2].empty());
  EXPECT_NE(reasons_[2].find("a2.png"), std::string::npos);
}

TEST_F(PredictFiles, of_no_image_computes_nothing) {
  pixels_.clear();
  EXPECT_TRUE(predict_memory().empty());
  EXPECT_TRUE(calls_.empty());
}

}  // namespace
}  // namespace roentgen::train
