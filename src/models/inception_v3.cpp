// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Inception-v3 (Szegedy et al. 2015, arXiv 1512.00567) as torchvision builds it, meant for 299 px. It takes any image
// of 75 px or more without its auxiliary classifier, and of 299 px or more with it. Parameters with 1000 outputs and 3
// channels, auxiliary classifier included: model_list.h (23.83 million without it). Multiply-adds at 299 px: 5.71 G
// without it.
// Deviations from the paper: weights are drawn from a normal distribution of sd 0.1, and of 0.001 for the auxiliary
// linear layer. torchvision cuts the distribution at +-2, 20 sd away. The auxiliary loss counts 0.4, as in
// torchvision's training. torchvision's ImageNet weights were trained on inputs (v - 0.5) / 0.5: see googlenet.cpp.
#include <string>

#include "core/error.h"
#include "models/conv_block.h"
#include "models/layers.h"
#include "models/model_list.h"

namespace roentgen::models {
namespace {
using graph::NodeId;

constexpr graph::Init kInit{.kind = graph::Init::Kind::Normal, .value = 0.1};
constexpr graph::Init kAuxiliaryInit{.kind = graph::Init::Kind::Normal, .value = 0.001};
constexpr double kAuxiliaryWeight = 0.4;

// Inception modules A to E as in torchvision; each function returns the concatenation of its branches.
class Modules {
 public:
  Modules(graph::Builder& builder, const ModelConfig& config)
      : builder_(builder), config_(config), blocks_(builder, config, kInit) {}

  NodeId block(const std::string& name, const ConvBlock& block, NodeId src) { return blocks_.add(name, block, src); }
  NodeId halved(const std::string& name, NodeId src) {
    return builder_.add(name, graph::MaxPool{.kernel = {3, 3}, .stride = {2, 2}}, {src});
  }

  NodeId a(const std::string& name, std::int64_t pooled, NodeId src) {
    const NodeId one = block(name + ".branch1x1", {.channels = 64}, src);
    const NodeId five = sequence(name + ".branch5x5_", {{.channels = 48}, same(64, 5, 5)}, src);
    const NodeId three = sequence(name + ".branch3x3dbl_", {{.channels = 64}, same(96, 3, 3), same(96, 3, 3)}, src);
    return concat(name + ".concat", {one, five, three, averaged(name, pooled, src)});
  }

  NodeId b(const std::string& name, NodeId src) {
    const NodeId one = block(name + ".branch3x3", halving(384), src);
    const NodeId two = sequence(name + ".branch3x3dbl_", {{.channels = 64}, same(96, 3, 3), halving(96)}, src);
    return concat(name + ".concat", {one, two, halved(name + ".pool", src)});
  }

  NodeId c(const std::string& name, std::int64_t inner, NodeId src) {
    const NodeId one = block(name + ".branch1x1", {.channels = 192}, src);
    const NodeId seven = sequence(name + ".branch7x7_", {{.channels = inner}, same(inner, 1, 7), same(192, 7, 1)}, src);
    const NodeId twice =
        sequence(name + ".branch7x7dbl_",
                 {{.channels = inner}, same(inner, 7, 1), same(inner, 1, 7), same(inner, 7, 1), same(192, 1, 7)}, src);
    return concat(name + ".concat", {one, seven, twice, averaged(name, 192, src)});
  }

  NodeId d(const std::string& name, NodeId src) {
    const NodeId three = sequence(name + ".branch3x3_", {{.channels = 192}, halving(320)}, src);
    const NodeId seven =
        sequence(name + ".branch7x7x3_", {{.channels = 192}, same(192, 1, 7), same(192, 7, 1), halving(192)}, src);
    return concat(name + ".concat", {three, seven, halved(name + ".pool", src)});
  }

  NodeId e(const std::string& name, NodeId src) {
    const NodeId one = block(name + ".branch1x1", {.channels = 320}, src);
    const NodeId three = block(name + ".branch3x3_1", {.channels = 384}, src);
    const NodeId wide = block(name + ".branch3x3_2a", same(384, 1, 3), three);
    const NodeId high = block(name + ".branch3x3_2b", same(384, 3, 1), three);
    const NodeId twice = sequence(name + ".branch3x3dbl_", {{.channels = 448}, same(384, 3, 3)}, src);
    const NodeId twice_wide = block(name + ".branch3x3dbl_3a", same(384, 1, 3), twice);
    const NodeId twice_high = block(name + ".branch3x3dbl_3b", same(384, 3, 1), twice);
    return concat(name + ".concat", {one, wide, high, twice_wide, twice_high, averaged(name, 192, src)});
  }

  void auxiliary(const std::string& name, NodeId src) {
    NodeId x = builder_.add(name + ".pool", graph::AvgPool{.kernel = {5, 5}, .stride = {3, 3}}, {src});
    x = block(name + ".conv0", {.channels = 128}, x);
    x = block(name + ".conv1", {.channels = 768, .kernel = {5, 5}}, x);
    x = builder_.add(name + ".mean", graph::GlobalAvgPool{}, {x});
    x = builder_.add(name + ".flatten", graph::Flatten{}, {x});
    const graph::Linear linear{.out_features = config_.labels, .weight_init = kAuxiliaryInit};
    x = builder_.add(name + ".fc", linear, {x});
    builder_.add(name, graph::Auxiliary{.weight = kAuxiliaryWeight}, {x});
  }

 private:
  NodeId sequence(const std::string& prefix, const std::vector<ConvBlock>& blocks, NodeId src) {
    return blocks_.add_sequence(prefix, blocks, src, 1);
  }
  NodeId concat(const std::string& name, const std::vector<NodeId>& branches) {
    return builder_.add(name, graph::Concat{}, branches);
  }
  NodeId averaged(const std::string& name, std::int64_t channels, NodeId src) {
    const graph::AvgPool pool{.kernel = {3, 3}, .stride = {1, 1}, .pad = {1, 1}};
    return block(name + ".branch_pool", {.channels = channels}, builder_.add(name + ".pool", pool, {src}));
  }

  graph::Builder& builder_;
  const ModelConfig& config_;
  ConvBlocks blocks_;
};

NodeId add_stem(Modules& modules, NodeId image) {
  NodeId x = modules.block("Conv2d_1a_3x3", halving(32), image);
  x = modules.block("Conv2d_2a_3x3", {.channels = 32, .kernel = {3, 3}}, x);
  x = modules.block("Conv2d_2b_3x3", same(64, 3, 3), x);
  x = modules.halved("maxpool1", x);
  x = modules.block("Conv2d_3b_1x1", {.channels = 80}, x);
  x = modules.block("Conv2d_4a_3x3", {.channels = 192, .kernel = {3, 3}}, x);
  return modules.halved("maxpool2", x);
}
}  // namespace

graph::Graph inception_v3(const ModelConfig& config) {
  constexpr std::int64_t kLeastPx = 75, kLeastPxWithAuxiliary = 299;
  require_plain(config, "inception_v3");
  require_image(config, "inception_v3", kLeastPx, "--set preprocess.size=299");
  if (config.auxiliary) {
    require_image(config, "inception_v3 with its auxiliary classifier", kLeastPxWithAuxiliary,
                  "--set model.auxiliary=false, or preprocess.size=299");
  }
  graph::Builder builder(config.name);
  Modules modules(builder, config);
  NodeId x =
      add_stem(modules, builder.input("image", {config.batch, config.channels, config.image_px, config.image_px}));
  x = modules.a("Mixed_5b", 32, x);
  x = modules.a("Mixed_5c", 64, x);
  x = modules.a("Mixed_5d", 64, x);
  x = modules.b("Mixed_6a", x);
  x = modules.c("Mixed_6b", 128, x);
  x = modules.c("Mixed_6c", 160, x);
  x = modules.c("Mixed_6d", 160, x);
  x = modules.c("Mixed_6e", 192, x);
  if (config.auxiliary) modules.auxiliary("AuxLogits", x);
  x = modules.d("Mixed_7a", x);
  x = modules.e("Mixed_7b", x);
  x = modules.e("Mixed_7c", x);
  add_head(builder, x, "fc", {.out_features = config.labels, .weight_init = kInit}, 0.5);
  return std::move(builder).build();
}

}  // namespace roentgen::models
