// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/predict.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/random.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"
#include "data/transform/test_views.h"
#include "io/png_writer.h"
#include "train/flat_model_testing.h"

namespace roentgen::train {
namespace {

constexpr std::int64_t kSizePx = 8;
constexpr int kImages = 5;  // not a multiple of the batch size 2

// Writes pictures to a folder, and their mirror images to the folder "m".
void write_pictures(const data::TestFolder& folder) {
  std::string csv = "path,patient,split,found\n";
  Random random(11, RandomStage::Test);
  for (int i = 0; i < kImages; ++i) {
    std::vector<std::byte> pixels(kSizePx * kSizePx);
    for (std::byte& pixel : pixels) pixel = static_cast<std::byte>(random.below(256));
    const auto write = [&](const std::string& name) {
      io::write_png(folder.path() / name, {.width_px = kSizePx, .height_px = kSizePx, .pixels = pixels});
      csv += fmt::format("{},p{},test,{}\n", name, i, i % 2);
    };
    write(fmt::format("a{}.png", i));
    for (std::int64_t y = 0; y < kSizePx; ++y) {
      std::reverse(pixels.begin() + y * kSizePx, pixels.begin() + (y + 1) * kSizePx);
    }
    write(fmt::format("m{}.png", i));
  }
  folder.write("labels.csv", csv);
}

class Predict : public testing::Test {
 protected:
  Predict() {
    write_pictures(folder_);
    data::SourceOptions source;
    source.root = folder_.path();
    source.labels = {"found"};
    dataset_ = data::load_dataset(source);
    executable_ = engine_.compile(flat_model(2, kSizePx, 1), {.form = engine::Form::Inference});
    preprocess_ = data::preset("unit");
    preprocess_.size_px = kSizePx;
  }

  // Loads weights of a network that is, or is not, symmetric under mirroring.
  void load(bool is_symmetric) {
    Random random(3, RandomStage::Test);
    std::vector<float> weights(kSizePx * kSizePx);
    for (float& weight : weights) weight = static_cast<float>(random.normal() / 4.0);
    for (std::size_t i = 0; is_symmetric && i < weights.size(); ++i) {
      const std::size_t x = i % kSizePx;
      if (x >= kSizePx / 2) weights[i] = weights[i - x + kSizePx - 1 - x];
    }
    executable_->load(0, weights);
    executable_->load(1, std::vector<float>{0.1F});
  }

  std::vector<float> predict_with(std::vector<data::AugmentDraw> views) {
    const PredictOptions options{.preprocess = preprocess_, .views = std::move(views)};
    PredictResult result = predict(*executable_, dataset_, data::samples_of(dataset_, data::Split::Test), options);
    EXPECT_EQ(result.predictions.image_ids.size(), std::size_t{2 * kImages});
    return result.predictions.probabilities;
  }

  data::TestFolder folder_;
  data::Dataset dataset_;
  ReferenceEngine engine_;
  std::unique_ptr<engine::Executable> executable_;
  data::Preprocess preprocess_;
};

TEST_F(Predict, with_no_view_or_the_plain_one_is_the_same) {
  load(false);
  EXPECT_EQ(predict_with({}), predict_with(data::test_views("none")));
}

// Pixels of unresized 8-bit images are whole numbers in both types. Only rounding to 2^-24 differs, for numbers up to
// the sum of 64 pixels.
TEST_F(Predict, from_pixels_is_as_from_values) {
  preprocess_ = data::preset("xray");
  preprocess_.size_px = kSizePx;
  load(false);
  const std::vector<float> wanted = predict_with({});
  for (const DType dtype : {DType::U8, DType::U16}) {
    engine_.slots = dtype;
    executable_ = engine_.compile(flat_model(2, kSizePx, 1),
                                  {.form = engine::Form::Inference, .input_norm = input_norm(preprocess_, engine_)});
    EXPECT_EQ(executable_->inputs()[0].dtype, dtype);
    load(false);
    const std::vector<float> got = predict_with({});
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-6) << name_of(dtype) << " " << i;
  }
}

// This order lets a GPU upload the next batch while it computes.
TEST_F(Predict, binds_the_next_batch_before_results_are_read) {
  std::vector<std::string> calls, wanted{"bind_slot"};
  engine_.form.on_call = [&](std::string_view call) { calls.emplace_back(call); };
  executable_ = engine_.compile(flat_model(4, kSizePx, 1), {.form = engine::Form::Inference});
  load(false);
  static_cast<void>(predict_with({}));
  for (const bool is_last : {false, false, true}) {  // 10 images in batches of 4
    wanted.emplace_back("forward");
    if (!is_last) wanted.emplace_back("bind_slot");
    wanted.emplace_back("read");
  }
  EXPECT_EQ(calls, wanted);
}

TEST_F(Predict, averages_the_probabilities_of_picture_and_mirror_image) {
  load(false);
  const std::vector<float> plain = predict_with({});
  const std::vector<float> flip = predict_with(data::test_views("flip"));
  for (std::size_t i = 0; i < plain.size(); i += 2) {
    EXPECT_NE(plain[i], plain[i + 1]);
    const float mean = (plain[i] + plain[i + 1]) / 2;
    EXPECT_NEAR(flip[i], mean, 1e-6);  // f32 sums in another order
    EXPECT_NEAR(flip[i + 1], mean, 1e-6);
  }
}

TEST_F(Predict, of_a_symmetric_net_gains_nothing_from_mirroring) {
  load(true);
  const std::vector<float> plain = predict_with({});
  const std::vector<float> flip = predict_with(data::test_views("flip"));
  const std::vector<float> five = predict_with(data::test_views("five-crop"));
  const std::vector<float> ten = predict_with(data::test_views("ten-crop"));
  double moved = 0.0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(flip[i], plain[i], 1e-6);
    moved = std::max(moved, static_cast<double>(std::abs(five[i] - plain[i])));
  }
  EXPECT_GT(moved, 1e-3) << "crops are other pictures";
  // The ten crops of a picture are its five crops and the five of its mirror image.
  for (std::size_t i = 0; i < plain.size(); i += 2) EXPECT_NEAR(ten[i], (five[i] + five[i + 1]) / 2, 1e-6);
}

TEST_F(Predict, counts_progress_over_all_views) {
  load(false);
  std::int64_t last = 0;
  PredictOptions options{.preprocess = preprocess_, .views = data::test_views("flip")};
  options.on_progress = [&](std::int64_t done) {
    EXPECT_GT(done, last);
    last = done;
  };
  static_cast<void>(predict(*executable_, dataset_, data::samples_of(dataset_, data::Split::Test), options));
  EXPECT_EQ(last, 2 * 2 * kImages);
}

}  // namespace
}  // namespace roentgen::train
