// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests train.ema (averaged weights) on the real engine, including running statistics, after a stop, a kill and a
// resume.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "io/safetensors.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;

constexpr int kStopped = 3;

TEST(AveragedWeights, of_a_stopped_and_killed_run_are_those_of_one_that_went_through) {
  const Workplace place;
  const fs::path data = place.synth("data", 160);
  const std::vector<std::string> averaged{"--set", "train.ema=0.95", "--set", "train.checkpoint_steps=2"};
  place.must_run(plus(place.train_arguments(data, "straight"), averaged));
  const auto parts = plus(place.train_arguments(data, "parts"), averaged);
  EXPECT_EQ(place.run(plus(parts, {"--stop-after", "5"})).code, kStopped);
  {
    Process process(plus(parts, {"--resume"}), place.root());
    static_cast<void>(process.wait_for_lines(place / "parts/log.jsonl", 12));
    process.signal(SIGKILL);
    static_cast<void>(process.wait());
  }
  place.must_run(plus(parts, {"--resume"}));
  for (const char* file : {"checkpoints/best.safetensors", "checkpoints/resume.safetensors"}) {
    expect_equal_tensors(place / "straight" / file, place / "parts" / file);
  }
  EXPECT_EQ(read_all(place / "straight/preds.csv"), read_all(place / "parts/preds.csv"));

  const auto resume = io::SafetensorsReader::open(place / "straight/checkpoints/resume.safetensors").or_throw();
  for (const char* name : {"norm1.running_mean", "norm2.running_var", "fc.weight"}) {
    const io::TensorInfo* own = resume.find(name);
    const io::TensorInfo* mean = resume.find(std::string("optimizer.ema.") + name);
    ASSERT_NE(own, nullptr);
    ASSERT_NE(mean, nullptr);
    EXPECT_FALSE(std::ranges::equal(resume.bytes(*own), resume.bytes(*mean))) << name;
  }
  EXPECT_EQ(resume.find("optimizer.ema.norm1.num_batches_tracked"), nullptr);
}

// The averaged weights are evaluated and stored: best.safetensors gives the predictions of the validation again.
TEST(AveragedWeights, are_what_best_safetensors_holds_and_validation_saw) {
  const Workplace place;
  const fs::path data = place.synth("data", 160);
  place.must_run(plus(place.train_arguments(data, "run"), {"--set", "train.ema=0.9"}));
  place.must_run({"eval", "--checkpoint", place / "run/checkpoints/best.safetensors", "--data", data, "--split", "val",
                  "--batch", "16", "--replicates", "0", "--preds", place / "preds.csv"});
  EXPECT_EQ(read_all(place / "preds.csv"), read_all(place / "run/preds.csv"));
}

}  // namespace
}  // namespace roentgen::e2e
