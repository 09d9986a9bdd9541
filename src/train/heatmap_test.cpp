// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests heat-maps of networks that are small enough to compute by hand, with the CPU engine.
#include "train/heatmap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/engine.h"
#include "graph/text.h"

namespace roentgen::train {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

constexpr float kRounding = 1e-5F;  // bound for the rounding of float32 sums of a few numbers below 100

// Network whose feature map has the channels x and relu(-x), for a 2 x 2 image x. `head` computes the logits from them.
std::string net(const std::string& head) {
  return "graph \"hand\"\ninput image (2, 1, 2, 2)\nconv = conv2d(image, out=2, bias=no)\nmap = relu(conv)\n" + head +
         "output logits = fc\n";
}

constexpr const char* kPooled = "pool = global_avg_pool(map)\nflat = flatten(pool)\nfc = linear(flat, out=3)\n";

class HandNet {
 public:
  explicit HandNet(const std::string& text) {
    graph::Graph graph = graph::parse_graph(text, "hand").or_throw();
    head_ = find_heat_head(graph);
    engine::CompileOptions options;
    options.form = engine::Form::Inference;
    options.threads = 1;
    executable_ = engine::make_engine("cpu")->compile(with_features(std::move(graph), head_), options);
    engine::initialise(*executable_, 1);
    set("conv.weight", {1.0F, -1.0F});
  }
  void set(const std::string& name, const std::vector<float>& values) {
    const auto& parameters = executable_->graph().parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].name == name) return executable_->load(static_cast<std::int32_t>(i), values);
    }
    FAIL() << name;
  }
  // Runs the network on the two images of a batch.
  void run(const std::vector<float>& images) {
    const auto slot = executable_->slot(0, 0);
    std::copy(images.begin(), images.end(), reinterpret_cast<float*>(slot.data()));
    executable_->bind_slot(0);
    executable_->forward();
  }
  [[nodiscard]] std::vector<float> map(std::int64_t row, std::int64_t label) {
    return HeatMapper(*executable_, head_).map(row, label).values;
  }
  [[nodiscard]] float logit(std::size_t row, std::size_t label) const {
    return executable_->read("logits")[row * 3 + label];
  }
  [[nodiscard]] const HeatHead& head() const { return head_; }
  [[nodiscard]] std::string features() const { return executable_->graph().node(head_.features).name; }

 private:
  HeatHead head_;
  std::unique_ptr<engine::Executable> executable_;
};

const std::vector<float> kImages{0, 0, 0, 0, 1, -2, 3, -4};

TEST(HeatMap, of_a_pooled_linear_head_is_the_weighted_sum_of_its_features) {
  HandNet net_(net(kPooled));
  EXPECT_EQ(net_.head().method, HeatMethod::Cam);
  EXPECT_EQ(net_.features(), "map");
  net_.set("fc.weight", {1, 0, 10, 100, 0, 0});
  net_.set("fc.bias", {0.5F, 0, 0});
  net_.run(kImages);
  // The feature map of the second image is (1, 0, 3, 0) and (0, 2, 0, 4).
  EXPECT_THAT(net_.map(1, 0), ElementsAre(1, 0, 3, 0));
  EXPECT_THAT(net_.map(1, 1), ElementsAre(10, 200, 30, 400));
  EXPECT_THAT(net_.map(0, 1), ElementsAre(0, 0, 0, 0));
}

TEST(HeatMap, is_flat_for_a_class_without_weight) {
  HandNet net_(net(kPooled));
  net_.set("fc.weight", {1, 0, 10, 100, 0, 0});
  net_.run(kImages);
  EXPECT_THAT(net_.map(1, 2), ElementsAre(0, 0, 0, 0));
}

TEST(HeatMap, differs_between_classes) {
  HandNet net_(net(kPooled));
  net_.run(kImages);
  EXPECT_NE(net_.map(1, 0), net_.map(1, 1));
}

TEST(HeatMap, of_a_pooled_linear_head_averages_to_the_logit) {
  HandNet net_(net(kPooled));
  net_.set("fc.bias", {0.25F, -1.0F, 2.0F});
  net_.run(kImages);
  const std::vector<float> bias{0.25F, -1.0F, 2.0F};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::vector<float> map = net_.map(1, static_cast<std::int64_t>(k));
    const float mean = std::accumulate(map.begin(), map.end(), 0.0F) / 4.0F;
    EXPECT_NEAR(mean + bias[k], net_.logit(1, k), kRounding);
  }
}

// An average pool over the whole map equals a global mean, and dropout does nothing in inference.
TEST(HeatMap, knows_a_pooled_linear_head_by_its_structure) {
  HandNet net_(
      net("pool = avg_pool(map, kernel=2x2)\nflat = flatten(pool)\ndrop = dropout(flat, p=0.5)\n"
          "fc = linear(drop, out=3)\n"));
  EXPECT_EQ(net_.head().method, HeatMethod::Cam);
  net_.set("fc.weight", {1, 0, 10, 100, 0, 0});
  net_.run(kImages);
  EXPECT_THAT(net_.map(1, 1), ElementsAre(10, 200, 30, 400));
}

// logit = W2 W1 mean(map): g[c] = (W2 W1)[k, c] / 4 cells.
TEST(GradCam, of_two_linear_layers_is_their_product) {
  HandNet net_(
      net("pool = global_avg_pool(map)\nflat = flatten(pool)\nmid = linear(flat, out=2)\n"
          "fc = linear(mid, out=3)\n"));
  EXPECT_EQ(net_.head().method, HeatMethod::GradCam);
  EXPECT_EQ(net_.features(), "map");
  net_.set("mid.weight", {1, 2, 3, 4});
  net_.set("fc.weight", {1, 1, 1, -1, 0, 0});
  net_.run(kImages);
  // Weights of the two channels: W2 W1 = (4, 6), (-2, -2), (0, 0) for the three labels.
  EXPECT_THAT(net_.map(1, 0), ElementsAre(1, 3, 3, 6));
  EXPECT_THAT(net_.map(1, 1), ElementsAre(0, 0, 0, 0));  // negative values are set to 0
  EXPECT_THAT(net_.map(1, 2), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(net_.map(0, 0), ElementsAre(0, 0, 0, 0));
}

// In inference the batch norm multiplies by the constant scale / sqrt(variance + epsilon), here 6 / 2, for any batch.
TEST(GradCam, takes_a_batch_norm_as_inference_does) {
  HandNet net_(
      net("pool = global_avg_pool(map)\nnorm = batch_norm(pool, epsilon=1e-12)\nact = relu(norm)\n"
          "flat = flatten(act)\nfc = linear(flat, out=3)\n"));
  EXPECT_EQ(net_.head().method, HeatMethod::GradCam);
  net_.set("norm.weight", {6, 6});
  net_.set("norm.bias", {100, -100});  // relu of the second channel gives 0
  net_.set("norm.running_mean", {5, 5});
  net_.set("norm.running_var", {4, 4});
  net_.set("fc.weight", {4, 8, 0, 0, 0, 0});
  net_.run(kImages);
  EXPECT_THAT(net_.map(1, 0), Pointwise(FloatNear(kRounding), std::vector<float>{3, 0, 9, 0}));
}

// The map comes from the features before the pooling. The gradient reaches the maximum of each pooling window.
TEST(GradCam, looks_before_the_last_pooling) {
  HandNet net_(
      "graph \"hand\"\ninput image (2, 1, 4, 2)\nconv = conv2d(image, out=2, bias=no)\nmap = relu(conv)\n"
      "pool = max_pool(map)\nflat = flatten(pool)\nfc = linear(flat, out=3)\noutput logits = fc\n");
  EXPECT_EQ(net_.features(), "map");
  net_.set("fc.weight", {8, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  net_.run({1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0});
  // Channel 0 has two windows, with gradients 8 and 16 spread over 8 cells: mean 3. Channel 1 has mean 0.
  EXPECT_THAT(net_.map(0, 0), ElementsAre(3, 6, 9, 12, 15, 18, 21, 24));
}

TEST(GradCam, looks_before_adaptive_pooling) {
  HandNet vgg(net("pool = adaptive_avg_pool(map, out=3x3)\nrows = flatten(pool)\nfc = linear(rows, out=3)\n"));
  EXPECT_EQ(vgg.head().method, HeatMethod::GradCam);
  EXPECT_EQ(vgg.features(), "map");
  vgg.run({1.0F, -2.0F, 3.0F, -4.0F, 1.0F, 1.0F, 1.0F, 1.0F});
  EXPECT_EQ(vgg.map(0, 1).size(), 4U);
}

TEST(HeatMap, passes_by_auxiliary_classifiers) {
  HandNet two(
      net("early = global_avg_pool(conv)\nrows = flatten(early)\nside = linear(rows, out=3)\n"
          "aux = auxiliary(side)\n" +
          std::string(kPooled)));
  EXPECT_EQ(two.head().method, HeatMethod::Cam);
  EXPECT_EQ(two.features(), "map");
}

TEST(HeatHead, refuses_networks_without_a_map) {
  const auto refusal = [](const std::string& text) {
    try {
      static_cast<void>(find_heat_head(graph::parse_graph(text, "hand").or_throw()));
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_THAT(refusal("graph \"flat\"\ninput image (1, 1, 2, 2)\nflat = flatten(image)\nfc = linear(flat, out=2)\n"
                      "output logits = fc\n"),
              AllOf(HasSubstr("[train.heatmap] flat: expected a network with a feature map for heat-maps"),
                    HasSubstr("try predicting without --heatmap, --out, --boxes and --masks")));
  EXPECT_THAT(refusal("graph \"small\"\ninput image (1, 1, 2, 2)\nconv = conv2d(image, out=2, kernel=2x2)\n"
                      "pool = global_avg_pool(conv)\nflat = flatten(pool)\nfc = linear(flat, out=2)\n"
                      "output logits = fc\n"),
              HasSubstr("got a last feature map of 1x1"));
}

}  // namespace
}  // namespace roentgen::train
