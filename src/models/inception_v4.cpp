// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Inception-v4 (Szegedy et al. 2016, arXiv 1602.07261, figures 3 to 9) as timm builds it, with timm's names. It is
// meant for 299 px and takes any image of 75 px or more. Parameters with 1000 outputs and 3 channels: model_list.h.
// Multiply-adds at 299 px: 12.2 G. Deviations from the paper: no dropout before the last layer, torch's default
// initialisation.
#include <string>

#include "models/conv_block.h"
#include "models/layers.h"
#include "models/model_list.h"

namespace roentgen::models {
namespace {
using graph::NodeId;

// Inception modules, numbered as members of timm's Sequential "features".
class Features {
 public:
  Features(graph::Builder& builder, const ModelConfig& config, NodeId image)
      : builder_(builder), blocks_(builder, config, {.kind = graph::Init::Kind::UniformFanIn}), last_(image) {}
  [[nodiscard]] NodeId last() const { return last_; }

  void stem() {
    last_ = blocks_.add(next(), halving(32), last_);
    last_ = blocks_.add(next(), {.channels = 32, .kernel = {3, 3}}, last_);
    last_ = blocks_.add(next(), same(64, 3, 3), last_);
    const std::string first = next();
    const NodeId pooled = halved(first + ".maxpool");
    concat(first, {pooled, blocks_.add(first + ".conv", halving(96), last_)});
    const std::string second = next();
    const ConvBlock shrinking{.channels = 96, .kernel = {3, 3}};
    const NodeId plain = blocks_.add_sequence(second + ".branch0.", {{.channels = 64}, shrinking}, last_);
    const NodeId crossed = blocks_.add_sequence(second + ".branch1.",
                                                {{.channels = 64}, same(64, 1, 7), same(64, 7, 1), shrinking}, last_);
    concat(second, {plain, crossed});
    const std::string third = next();
    const NodeId conv = blocks_.add(third + ".conv", halving(192), last_);
    concat(third, {conv, halved(third + ".maxpool")});
  }

  void a() {
    const std::string name = next();
    const NodeId one = blocks_.add(name + ".branch0", {.channels = 96}, last_);
    const NodeId two = blocks_.add_sequence(name + ".branch1.", {{.channels = 64}, same(96, 3, 3)}, last_);
    const NodeId three =
        blocks_.add_sequence(name + ".branch2.", {{.channels = 64}, same(96, 3, 3), same(96, 3, 3)}, last_);
    concat(name, {one, two, three, averaged(name + ".branch3", 96)});
  }

  void reduction_a() {
    const std::string name = next();
    const NodeId one = blocks_.add(name + ".branch0", halving(384), last_);
    const NodeId two =
        blocks_.add_sequence(name + ".branch1.", {{.channels = 192}, same(224, 3, 3), halving(256)}, last_);
    concat(name, {one, two, halved(name + ".branch2")});
  }

  void b() {
    const std::string name = next();
    const NodeId one = blocks_.add(name + ".branch0", {.channels = 384}, last_);
    const NodeId two =
        blocks_.add_sequence(name + ".branch1.", {{.channels = 192}, same(224, 1, 7), same(256, 7, 1)}, last_);
    const NodeId three = blocks_.add_sequence(
        name + ".branch2.", {{.channels = 192}, same(192, 7, 1), same(224, 1, 7), same(224, 7, 1), same(256, 1, 7)},
        last_);
    concat(name, {one, two, three, averaged(name + ".branch3", 128)});
  }

  void reduction_b() {
    const std::string name = next();
    const NodeId one = blocks_.add_sequence(name + ".branch0.", {{.channels = 192}, halving(192)}, last_);
    const NodeId two = blocks_.add_sequence(name + ".branch1.",
                                            {{.channels = 256}, same(256, 1, 7), same(320, 7, 1), halving(320)}, last_);
    concat(name, {one, two, halved(name + ".branch2")});
  }

  void c() {
    const std::string name = next();
    const NodeId one = blocks_.add(name + ".branch0", {.channels = 256}, last_);
    const NodeId two = blocks_.add(name + ".branch1_0", {.channels = 384}, last_);
    const NodeId two_wide = blocks_.add(name + ".branch1_1a", same(256, 1, 3), two);
    const NodeId two_high = blocks_.add(name + ".branch1_1b", same(256, 3, 1), two);
    NodeId three = blocks_.add(name + ".branch2_0", {.channels = 384}, last_);
    three = blocks_.add(name + ".branch2_1", same(448, 3, 1), three);
    three = blocks_.add(name + ".branch2_2", same(512, 1, 3), three);
    const NodeId three_wide = blocks_.add(name + ".branch2_3a", same(256, 1, 3), three);
    const NodeId three_high = blocks_.add(name + ".branch2_3b", same(256, 3, 1), three);
    concat(name, {one, two_wide, two_high, three_wide, three_high, averaged(name + ".branch3", 256)});
  }

 private:
  std::string next() { return "features." + std::to_string(number_++); }
  NodeId halved(const std::string& name) {
    return builder_.add(name, graph::MaxPool{.kernel = {3, 3}, .stride = {2, 2}}, {last_});
  }
  NodeId averaged(const std::string& name, std::int64_t channels) {
    const graph::AvgPool pool{.kernel = {3, 3}, .stride = {1, 1}, .pad = {1, 1}, .count_pad = false};
    return blocks_.add_sequence(name + ".", {{.channels = channels}}, builder_.add(name + ".0", pool, {last_}), 1);
  }
  void concat(const std::string& name, const std::vector<NodeId>& branches) {
    last_ = builder_.add(name + ".concat", graph::Concat{}, branches);
  }

  graph::Builder& builder_;
  ConvBlocks blocks_;
  NodeId last_;
  int number_ = 0;
};
}  // namespace

graph::Graph inception_v4(const ModelConfig& config) {
  constexpr std::int64_t kLeastPx = 75;
  require_plain(config, "inception_v4");
  require_image(config, "inception_v4", kLeastPx, "--set preprocess.size=299");
  graph::Builder builder(config.name);
  Features features(builder, config,
                    builder.input("image", {config.batch, config.channels, config.image_px, config.image_px}));
  features.stem();
  for (int i = 0; i < 4; ++i) features.a();
  features.reduction_a();
  for (int i = 0; i < 7; ++i) features.b();
  features.reduction_b();
  for (int i = 0; i < 3; ++i) features.c();
  add_head(builder, features.last(), "last_linear", {.out_features = config.labels});
  return std::move(builder).build();
}

}  // namespace roentgen::models
