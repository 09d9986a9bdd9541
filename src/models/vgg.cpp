// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// VGG-16 and VGG-19 (Simonyan and Zisserman 2014, arXiv 1409.1556, configurations D and E), plain and with batch norms,
// as torchvision builds them. They take any image of 32 px or more, because the features are averaged to 7x7.
// Parameters with 1000 outputs and 3 channels: model_list.h. Multiply-adds at 224 px: 15.47 and 19.63 G. The linear
// layers hold nine tenths of the parameters.
// Deviations from the paper: initialisation by fan out (He et al. 2015, arXiv 1502.01852), linear layers of sd 0.01,
// all biases 0, and the averaging.
#include <array>
#include <string>

#include "models/layers.h"
#include "models/model_list.h"

namespace roentgen::models {
namespace {
using graph::Builder;
using graph::NodeId;

constexpr std::int64_t kHidden = 4096;
constexpr std::int64_t kGrid = 7;

// Adds nodes named like the members of a torch Sequential: "<prefix>.<number>".
class Sequence {
 public:
  Sequence(Builder& builder, std::string prefix, NodeId src)
      : builder_(builder), prefix_(std::move(prefix)), last_(src) {}
  void add(graph::Op op) { last_ = builder_.add(prefix_ + "." + std::to_string(number_++), std::move(op), {last_}); }
  [[nodiscard]] NodeId last() const { return last_; }

 private:
  Builder& builder_;
  std::string prefix_;
  NodeId last_;
  int number_ = 0;
};

graph::Linear linear(std::int64_t out) {
  return {.out_features = out, .weight_init = {.kind = graph::Init::Kind::Normal, .value = 0.01}, .bias_init = {}};
}

enum class Norm : std::uint8_t { None, Batch };

// Number of convolutions in each of the five stages.
using Stages = std::array<int, 5>;
constexpr Stages kVgg16{2, 2, 3, 3, 3};
constexpr Stages kVgg19{2, 2, 4, 4, 4};

NodeId add_features(Builder& builder, const ModelConfig& config, const Stages& stages, Norm norm) {
  constexpr std::array<std::int64_t, 5> kChannels{64, 128, 256, 512, 512};
  Sequence features(builder, "features",
                    builder.input("image", {config.batch, config.channels, config.image_px, config.image_px}));
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    for (int i = 0; i < stages[stage]; ++i) {
      features.add(graph::Conv2d{.out_channels = scaled(config, kChannels[stage]),
                                 .kernel = {3, 3},
                                 .pad = {1, 1},
                                 .weight_init = {.kind = graph::Init::Kind::NormalFanOut},
                                 .bias_init = {}});
      if (norm == Norm::Batch) features.add(graph::BatchNorm{});
      features.add(graph::Relu{});
    }
    features.add(graph::MaxPool{});
  }
  return features.last();
}

graph::Graph build(const ModelConfig& config, const Stages& stages, Norm norm) {
  require_plain(config, "vgg");
  Builder builder(config.name);
  NodeId x = add_features(builder, config, stages, norm);
  x = builder.add("avgpool", graph::AdaptiveAvgPool{.out = {kGrid, kGrid}}, {x});
  Sequence classifier(builder, "classifier", builder.add("flatten", graph::Flatten{}, {x}));
  for (int i = 0; i < 2; ++i) {
    classifier.add(linear(scaled(config, kHidden)));
    classifier.add(graph::Relu{});
    classifier.add(graph::Dropout{});
  }
  classifier.add(linear(config.labels));
  builder.output("logits", classifier.last());
  return std::move(builder).build();
}
}  // namespace

graph::Graph vgg16(const ModelConfig& config) { return build(config, kVgg16, Norm::None); }
graph::Graph vgg16_bn(const ModelConfig& config) { return build(config, kVgg16, Norm::Batch); }
graph::Graph vgg19(const ModelConfig& config) { return build(config, kVgg19, Norm::None); }
graph::Graph vgg19_bn(const ModelConfig& config) { return build(config, kVgg19, Norm::Batch); }

}  // namespace roentgen::models
