// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/consumer.h"
#include "bench/images_testing.h"
#include "core/error.h"

namespace roentgen::bench {
namespace {

using testing::HasSubstr;

using PipelineCase = ImagesTest;

TEST_F(PipelineCase, measures_every_batch_and_stage) {
  const Value result = run_pipeline(dataset_, small());
  EXPECT_EQ(result.at("pipeline").as_string(), "samples | shuffle | shard | repeat | map_and_batch | prefetch");
  EXPECT_EQ(result.at("images").as_integer(), 9);
  EXPECT_GT(result.at("images_per_s").as_double(), 0.0);
  EXPECT_GT(result.at("per_core").as_double(), 0.0);
  EXPECT_FALSE(result.at("emulated").as_bool());
  EXPECT_EQ(result.at("bound").as_string(), "input");
  const auto& stages = result.at("stages").as_array();
  ASSERT_EQ(stages.size(), 6U);
  EXPECT_EQ(stages[4].at("threads").as_integer(), 2);
  EXPECT_GE(stages[5].at("items").as_integer(), 7) << "and those until the sizes had settled";
  EXPECT_GT(stages[5].at("items_per_s").as_double(), 0.0);
}

TEST_F(PipelineCase, gives_the_same_batches_whoever_does_the_work) {
  auto options = small();
  const auto checksum = run_pipeline(dataset_, options).at("checksum").as_string();
  options.workers = 7;
  options.is_cold = true;
  EXPECT_EQ(run_pipeline(dataset_, options).at("checksum").as_string(), checksum);
  options.pipeline = data::parse_pipeline("samples | shuffle | shard | map(2) | repeat | batch | prefetch(5)");
  EXPECT_EQ(run_pipeline(dataset_, options).at("checksum").as_string(), checksum);
  options.seed = 1;
  EXPECT_NE(run_pipeline(dataset_, options).at("checksum").as_string(), checksum);
}

TEST_F(PipelineCase, fills_slots_with_pixels_where_it_is_told) {
  auto options = small();
  const Value values = run_pipeline(dataset_, options);
  EXPECT_EQ(values.at("slot_dtype").as_string(), "f32");
  const BatchSize whole = batch_size(options);
  options.slot_dtype = DType::U16;
  const Value pixels = run_pipeline(dataset_, options);
  EXPECT_EQ(pixels.at("slot_dtype").as_string(), "u16");
  EXPECT_NE(pixels.at("checksum").as_string(), values.at("checksum").as_string());
  EXPECT_EQ(2 * batch_size(options).image_bytes, whole.image_bytes);
}

TEST_F(PipelineCase, keeps_decoded_images_where_it_is_told) {
  auto options = small();
  const Value plain = run_pipeline(dataset_, options);
  EXPECT_TRUE(plain.at("cache_kept").is_null());
  options.cache_dir = folder_.path() / "cache";
  const Value filled = run_pipeline(dataset_, options);
  EXPECT_EQ(filled.at("cache_kept").as_integer(), 0);
  const Value again = run_pipeline(dataset_, options);
  EXPECT_GT(again.at("cache_kept").as_integer(), 0);
  EXPECT_TRUE(plain.at("cached_share").is_null());
  EXPECT_GT(filled.at("cached_share").as_double(), 0.0) << "9 images, of which 24 and more are taken";
  EXPECT_GT(again.at("cached_share").as_double(), 0.5);
  for (const Value& cached : {filled, again}) {
    EXPECT_EQ(cached.at("checksum").as_string(), plain.at("checksum").as_string());
  }
  options.pipeline = data::parse_pipeline("samples | cache(where=disk) | shuffle | shard | repeat | map_and_batch");
  EXPECT_EQ(run_pipeline(dataset_, options).at("checksum").as_string(), plain.at("checksum").as_string());
  options.cache_dir.clear();
  try {
    static_cast<void>(run_pipeline(dataset_, options));
    FAIL() << "nowhere to keep them";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("try --cache-dir DIR"));
  }
}

TEST_F(PipelineCase, measures_whole_passes_where_a_buffer_of_read_images_holds_one) {
  auto options = small();
  options.steps = 2;
  options.warmup = 0;
  EXPECT_EQ(run_pipeline(dataset_, options).at("n").as_integer(), 2) << "names alone are shuffled";
  options.pipeline = data::parse_pipeline("files | interleave | shuffle(buffer=100) | shard | repeat | map_and_batch");
  EXPECT_EQ(run_pipeline(dataset_, options).at("n").as_integer(), 3) << "9 images in batches of 4";
  options.steps = 4;
  EXPECT_EQ(run_pipeline(dataset_, options).at("n").as_integer(), 6);
  options.steps = 2;
  options.batch = 1;
  options.pipeline = data::parse_pipeline("files | interleave | shuffle(buffer=3) | shard | repeat | map_and_batch");
  EXPECT_EQ(run_pipeline(dataset_, options).at("n").as_integer(), 2) << "every image drawn is replaced by one read";
}

TEST_F(PipelineCase, holds_no_more_than_its_budget) {
  auto options = small();
  options.pipeline = data::parse_pipeline("samples | shuffle | shard | repeat | map_and_batch | prefetch(60)");
  options.image_px = 128;  // 256 KiB per batch
  EXPECT_EQ(run_pipeline(dataset_, options).at("memory").at("slots").as_integer(), 61);
  options.memory_mb = 2;
  const Value tight = run_pipeline(dataset_, options);
  const Value& memory = tight.at("memory");
  EXPECT_LT(memory.at("slots").as_integer(), 9);
  EXPECT_GE(memory.at("slots").as_integer(), 2);
  EXPECT_EQ(memory.at("budget_bytes").as_integer(), 2 << 20);
  EXPECT_LE(memory.at("bytes").as_integer(), 2 << 20);
  options.image_px = 512;
  try {
    static_cast<void>(run_pipeline(dataset_, options));
    FAIL() << "two batches of 4 MiB";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("[data.memory] memory of the input pipeline: expected at most 2.0 MiB"));
  }
}

TEST_F(PipelineCase, of_one_rank_of_two_needs_images_for_both) {
  auto options = small();
  options.ranks = 2;
  EXPECT_EQ(run_pipeline(dataset_, options).at("ranks").as_integer(), 2);
  options.batch = 5;
  EXPECT_THROW(static_cast<void>(run_pipeline(dataset_, options)), ConfigError) << "9 images for 10 places";
  options.ranks = 1;
  EXPECT_NO_THROW(static_cast<void>(run_pipeline(dataset_, options)));
}

TEST_F(PipelineCase, waits_for_what_is_emulated_and_says_so) {
  auto options = small();
  options.device_images_per_s = 2000;  // 2 ms per batch
  options.storage = data::StorageCosts{.open_s = 1e-4};
  const Value result = run_pipeline(dataset_, options);
  EXPECT_TRUE(result.at("emulated").as_bool());
  EXPECT_EQ(result.at("device").as_string(), "emulated:2000");
  EXPECT_EQ(result.at("storage").as_string(), "open=0.1ms,read=0ms");
  EXPECT_LE(result.at("images_per_s").as_double(), 2000.0);
}

TEST_F(PipelineCase, refuses_what_it_cannot_run) {
  const auto refusal = [this](const InputOptions& options) -> std::string {
    try {
      static_cast<void>(run_pipeline(dataset_, options));
    } catch (const Error& error) {
      return error.what();
    }
    return "no refusal";
  };
  auto options = small();
  options.batch = 10;
  EXPECT_THAT(refusal(options), HasSubstr("[data.loader] images: expected at least one batch of 10"));
  options = small();
  options.steps = 0;
  EXPECT_THAT(refusal(options), HasSubstr("[bench.options] steps: expected at least 1"));
  options = small();
  options.pipeline = data::parse_pipeline("samples | map_and_batch");
  EXPECT_THAT(refusal(options), HasSubstr("[bench.pipeline] pipeline: expected 7 batches, got 3; try a repeat"));
  options = small();
  options.ranks = 0;
  EXPECT_THAT(refusal(options), HasSubstr("[bench.options] ranks: expected at least 1"));
  options = small();
  std::ofstream(dataset_.samples[5].path, std::ios::trunc) << "no image";
  EXPECT_THAT(refusal(options), HasSubstr("5.png"));
}

TEST(EmulatedDevice, is_read_or_refused) {
  EXPECT_EQ(parse_emulated_device("emulated:1200"), 1200.0);
  EXPECT_EQ(parse_emulated_device("emulated:0.5"), 0.5);
  for (const auto* text : {"", "cpu", "emulated", "emulated:", "emulated:x", "emulated:0", "emulated:-1",
                           "emulated:1e99", "emulated:nan", "emulated:5 "}) {
    EXPECT_THROW(static_cast<void>(parse_emulated_device(text)), ConfigError) << text;
  }
}

}  // namespace
}  // namespace roentgen::bench
