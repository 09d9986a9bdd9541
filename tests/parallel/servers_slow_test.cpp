// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Late gradients cost little accuracy: an asynchronous run by the recipe of a synchronous one, on synthetic images.
// Settings and more seeds: docs/notebook/ps.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/json.h"
#include "tests/parallel/launch.h"

namespace roentgen::e2e {
namespace {

constexpr std::string_view kNet = R"(graph "small"
input image (N, C, S, S)
conv1 = conv2d(image, out=16, kernel=3x3, pad=1x1, bias=no)
norm1 = batch_norm(conv1)
relu1 = relu(norm1)
pool1 = max_pool(relu1, kernel=2x2, stride=2x2)
conv2 = conv2d(pool1, out=32, kernel=3x3, pad=1x1, bias=no)
norm2 = batch_norm(conv2)
relu2 = relu(norm2)
pool2 = max_pool(relu2, kernel=2x2, stride=2x2)
conv3 = conv2d(pool2, out=64, kernel=3x3, pad=1x1, bias=no)
norm3 = batch_norm(conv3)
relu3 = relu(norm3)
flat = flatten(relu3)
fc = linear(flat, out=K)
output logits = fc
)";

constexpr std::string_view kRecipe = R"([preprocess]
preset = "xray"
size = 32
[augment]
translate = 0.05
flip = 0.5
[train]
epochs = 12
batch = 8
threads = 1
select = "auroc"
[optimizer]
name = "adam"
lr = 2e-3
weight_decay = 1e-4
[schedule]
name = "cosine"
warmup_epochs = 0.5
)";

/// Trains on one set of images with several seeds.
class Convergence : public testing::Test {
 protected:
  void SetUp() override {
    constexpr int kImages = 6000;
    place_.write("net.txt", kNet);
    place_.write("recipe.toml", kRecipe);
    place_.must_run({"synth", place_ / "data", "--images", std::to_string(kImages), "--size", "32"});
  }
  /// Mean AUROC of the test images after a training.
  double auroc_of(const std::string& run, int seed, const std::vector<std::string>& options) {
    const fs::path folder = place_ / run;
    place_.must_run(
        plus({"train", "--recipe", place_ / "recipe.toml", "--model", place_ / "net.txt", "--data", place_ / "data",
              "--out", folder, "--oversubscribe", "--overwrite", "--set", fmt::format("train.seed={}", seed)},
             options));
    const fs::path json = place_ / (run + ".json");
    place_.must_run({"eval", "--checkpoint", folder / "checkpoints/best.safetensors", "--data", place_ / "data",
                     "--split", "test", "--replicates", "0", "--json", json});
    return read_json(json).at("auroc").at("mean").as_double();
  }

  Workplace place_;
};

TEST_F(Convergence, of_asynchronous_runs_is_within_a_hundredth_of_synchronous_ones) {
  constexpr int kSeeds = 3;
  // Asynchronous runs differ each time: of 12 damped and 13 plain runs (docs/notebook/ps.md), the differences were
  // between -0.0134 and +0.0042.
  constexpr double kMostOfMean = 0.01, kMostOfOne = 0.015;
  double difference = 0.0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const double sync = auroc_of("sync", seed, {"--ranks", "4"});
    const double async = auroc_of("async", seed, {"--ranks", "5", "--update", "async"});
    fmt::print("| {} | {:.4f} | {:.4f} | {:+.4f} |\n", seed, sync, async, async - sync);
    EXPECT_NEAR(async, sync, kMostOfOne) << "seed " << seed;
    difference += (async - sync) / kSeeds;
  }
  EXPECT_NEAR(difference, 0.0, kMostOfMean) << "mean over seeds";
}

}  // namespace
}  // namespace roentgen::e2e
