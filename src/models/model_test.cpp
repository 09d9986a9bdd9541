// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "models/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "core/error.h"
#include "graph/inference.h"

namespace roentgen::models {
namespace {
using graph::Graph;
using graph::Parameter;

struct GoldenRow {
  ModelConfig config;
  std::string variant;
  std::int64_t parameters = 0;
  std::int64_t trained_tensors = 0;
  std::int64_t tensors = 0;
  std::uint64_t names = 0;
  std::int64_t multiply_adds = 0;
};

GoldenRow parse_row(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  GoldenRow row;
  row.variant = fields.at(1);
  row.config = {.name = fields.at(0),
                .labels = std::stoll(fields.at(2)),
                .channels = std::stoll(fields.at(3)),
                .image_px = std::stoll(fields.at(4)),
                .batch = 1,
                .stem = row.variant == "small" ? Stem::Small : Stem::ImageNet,
                .stride = row.variant == "v1" ? ResNetStride::V1 : ResNetStride::V1_5,
                .dilated_stages = row.variant.starts_with("dilated") ? row.variant.back() - '0' : 0,
                .auxiliary = row.variant != "bare"};
  row.parameters = std::stoll(fields.at(5));
  row.trained_tensors = std::stoll(fields.at(6));
  row.tensors = std::stoll(fields.at(7));
  row.names = std::stoull(fields.at(8), nullptr, 16);
  row.multiply_adds = std::stoll(fields.at(9));
  return row;
}

std::vector<GoldenRow> read_golden() {
  const char* root = std::getenv("ROENTGEN_SOURCE_DIR");
  std::ifstream file(std::filesystem::path(root != nullptr ? root : ".") / "tests/golden/models.csv");
  std::vector<GoldenRow> rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#') && !line.starts_with("model,")) rows.push_back(parse_row(line));
  }
  return rows;
}

// Text "name:d0xd1x...;" for every tensor, in order; tools/peers/models_golden.py hashes the same text.
std::string described(const Graph& graph) {
  std::string text;
  for (const Parameter& parameter : graph.parameters()) {
    text += parameter.name + ":";
    for (int axis = 0; axis < parameter.shape.rank(); ++axis) {
      text += (axis == 0 ? "" : "x") + std::to_string(parameter.shape[axis]);
    }
    text += ";";
  }
  return text;
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t value = 0xCBF29CE484222325U;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return value;
}

std::int64_t multiply_adds(const Graph& graph) {
  const std::vector<bool> is_needed = graph::needed_in_inference(graph);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < is_needed.size(); ++i) total += is_needed[i] ? graph.nodes()[i].multiply_adds : 0;
  return total;
}

std::int64_t trained_tensors(const Graph& graph) {
  std::int64_t count = 0;
  for (const Parameter& parameter : graph.parameters()) count += graph::is_trained(parameter.role) ? 1 : 0;
  return count;
}

constexpr std::int64_t kInceptionPx = 299;

TEST(Models, have_torchvisions_tensors_in_names_shapes_and_order) {
  const std::vector<GoldenRow> rows = read_golden();
  ASSERT_EQ(rows.size(), 79U);
  for (const GoldenRow& row : rows) {
    SCOPED_TRACE(row.config.name + " " + row.variant + " " + std::to_string(row.config.labels));
    const Graph graph = build_model(row.config);
    EXPECT_EQ(graph.trained_elements(), row.parameters);
    EXPECT_EQ(trained_tensors(graph), row.trained_tensors);
    EXPECT_EQ(std::ssize(graph.parameters()), row.tensors);
    EXPECT_EQ(fnv1a(described(graph)), row.names) << "compare with tools/peers/models_golden.py --list";
  }
}

TEST(Models, cost_as_many_multiply_adds_as_torchvisions) {
  for (const GoldenRow& row : read_golden()) {
    SCOPED_TRACE(row.config.name + " " + row.variant + " " + std::to_string(row.config.image_px) + " px");
    EXPECT_EQ(multiply_adds(build_model(row.config)), row.multiply_adds);
  }
}

TEST(Models, have_the_parameters_that_the_list_states) {
  ASSERT_EQ(model_names().size(), 15U);
  for (const std::string_view name : model_names()) {
    const Graph graph =
        build_model({.name = std::string(name), .labels = 1000, .channels = 3, .image_px = kInceptionPx, .batch = 1});
    EXPECT_EQ(graph.trained_elements(), torchvision_parameter_count(name)) << name;
  }
}

std::vector<Stem> stems_of(std::string_view name) {
  if (name.starts_with("resnet") || name.starts_with("densenet")) return {Stem::ImageNet, Stem::Small};
  return {Stem::ImageNet};
}

std::int64_t least_px(std::string_view name) { return name.starts_with("inception") ? 75 : 32; }

TEST(Models, take_any_image_of_their_least_size_or_more_and_give_logits) {
  for (const std::string_view name : model_names()) {
    const std::int64_t least = least_px(name);
    for (const std::int64_t image_px : {least, least + 1, 2 * least - 1, std::int64_t{224}, std::int64_t{1024}}) {
      for (const Stem stem : stems_of(name)) {
        const Graph graph = build_model({.name = std::string(name),
                                         .labels = 3,
                                         .image_px = image_px,
                                         .batch = 2,
                                         .stem = stem,
                                         .auxiliary = name != "inception_v3"});
        ASSERT_EQ(graph.outputs().size(), 1U);
        EXPECT_EQ(graph.node(graph.output("logits")).shape, (Shape{2, 3})) << name << " at " << image_px;
        EXPECT_EQ(graph.node(graph.find("image")).shape, (Shape{2, 1, image_px, image_px}));
      }
    }
  }
}

TEST(Models, of_twice_the_width_have_twice_the_channels_everywhere) {
  for (const std::string_view name : model_names()) {
    constexpr std::int64_t kLabels = 5;
    const Graph one =
        build_model({.name = std::string(name), .labels = kLabels, .image_px = kInceptionPx, .batch = 1, .width = 32});
    const Graph two =
        build_model({.name = std::string(name), .labels = kLabels, .image_px = kInceptionPx, .batch = 1, .width = 64});
    ASSERT_EQ(one.parameters().size(), two.parameters().size());
    for (std::size_t i = 0; i < one.parameters().size(); ++i) {
      ASSERT_EQ(one.parameters()[i].name, two.parameters()[i].name);
      const std::string& parameter = one.parameters()[i].name;
      const bool is_head = one.parameters()[i].shape[0] == kLabels;
      EXPECT_EQ((is_head ? 1 : 2) * one.parameters()[i].shape[0], two.parameters()[i].shape[0]) << parameter;
    }
  }
}

const Parameter& parameter_named(const Graph& graph, std::string_view name) {
  for (const Parameter& parameter : graph.parameters()) {
    if (parameter.name == name) return parameter;
  }
  throw std::out_of_range(std::string(name));
}

void expect_conv_init(const Graph& graph, graph::Init::Kind kind) {
  for (const Parameter& parameter : graph.parameters()) {
    const bool is_conv = parameter.role == graph::Role::Weight && parameter.shape.rank() == 4;
    if (is_conv) {
      EXPECT_EQ(parameter.init, graph::Init{.kind = kind}) << parameter.name;
    }
    if (parameter.role == graph::Role::NormScale || parameter.role == graph::Role::RunningVariance) {
      EXPECT_EQ(parameter.init, (graph::Init{.kind = graph::Init::Kind::Constant, .value = 1.0})) << parameter.name;
    }
    if (parameter.role == graph::Role::NormShift || parameter.role == graph::Role::RunningMean) {
      EXPECT_EQ(parameter.init, graph::Init{}) << parameter.name;
    }
  }
}

TEST(Models, start_as_torchvisions_resnets_do) {
  const Graph graph = build_model({.name = "resnet50"});
  expect_conv_init(graph, graph::Init::Kind::NormalFanOut);
  EXPECT_EQ(parameter_named(graph, "fc.weight").init.kind, graph::Init::Kind::UniformFanIn);
  EXPECT_EQ(parameter_named(graph, "fc.bias").init,
            (graph::Init{.kind = graph::Init::Kind::UniformFanIn, .fan_in = 2048}));
}

TEST(Models, start_as_torchvisions_densenets_do) {
  const Graph graph = build_model({.name = "densenet121"});
  expect_conv_init(graph, graph::Init::Kind::NormalFanIn);
  EXPECT_EQ(parameter_named(graph, "classifier.weight").init.kind, graph::Init::Kind::UniformFanIn);
  EXPECT_EQ(parameter_named(graph, "classifier.bias").init, graph::Init{});
}

TEST(Models, start_as_torchvisions_vggs_do) {
  const Graph graph = build_model({.name = "vgg16_bn", .width = 8});
  expect_conv_init(graph, graph::Init::Kind::NormalFanOut);
  for (const Parameter& parameter : graph.parameters()) {
    if (parameter.role == graph::Role::Bias) {
      EXPECT_EQ(parameter.init, graph::Init{}) << parameter.name;
    }
    if (parameter.role == graph::Role::Weight && parameter.shape.rank() == 2) {
      EXPECT_EQ(parameter.init, (graph::Init{.kind = graph::Init::Kind::Normal, .value = 0.01})) << parameter.name;
    }
  }
}

void expect_normal_weights(const Graph& graph, double sd, const std::map<std::string, double>& others) {
  for (const Parameter& parameter : graph.parameters()) {
    if (parameter.role != graph::Role::Weight) continue;
    const auto other = others.find(parameter.name);
    EXPECT_EQ(parameter.init,
              (graph::Init{.kind = graph::Init::Kind::Normal, .value = other == others.end() ? sd : other->second}))
        << parameter.name;
  }
}

TEST(Models, start_as_torchvisions_googlenet_and_inception_do) {
  const Graph googlenet = build_model({.name = "googlenet"});
  expect_normal_weights(googlenet, 0.01, {});
  EXPECT_EQ(parameter_named(googlenet, "fc.bias").init.kind, graph::Init::Kind::UniformFanIn);
  expect_normal_weights(build_model({.name = "inception_v3", .image_px = kInceptionPx}), 0.1,
                        {{"AuxLogits.fc.weight", 0.001}});
}

TEST(Models, start_inception_v4_as_timm_does) {
  const Graph graph = build_model({.name = "inception_v4"});
  expect_conv_init(graph, graph::Init::Kind::UniformFanIn);
  EXPECT_EQ(parameter_named(graph, "last_linear.weight").init.kind, graph::Init::Kind::UniformFanIn);
}

std::vector<double> auxiliary_weights(const ModelConfig& config) {
  const Graph graph = build_model(config);
  std::vector<double> weights;
  for (const graph::Node& node : graph.nodes()) {
    if (const auto* auxiliary = std::get_if<graph::Auxiliary>(&node.op)) weights.push_back(auxiliary->weight);
  }
  return weights;
}

TEST(Models, have_auxiliary_classifiers_of_torchvisions_weight_unless_told_not_to) {
  EXPECT_EQ(auxiliary_weights({.name = "googlenet"}), (std::vector<double>{0.3, 0.3}));
  EXPECT_EQ(auxiliary_weights({.name = "inception_v3", .image_px = kInceptionPx}), (std::vector<double>{0.4}));
  EXPECT_TRUE(auxiliary_weights({.name = "googlenet", .auxiliary = false}).empty());
  EXPECT_TRUE(auxiliary_weights({.name = "inception_v3", .auxiliary = false}).empty());
}

struct Moments {
  double mean = 0.0;
  double sd = 0.0;
  double largest = 0.0;
};

Moments initial_moments(const Graph& graph, std::string_view name) {
  const std::vector<float> values = graph::initial_values(parameter_named(graph, name), 1);
  Moments moments;
  for (const float value : values) moments.mean += value / static_cast<double>(values.size());
  for (const float value : values) {
    moments.sd += (value - moments.mean) * (value - moments.mean) / static_cast<double>(values.size());
    moments.largest = std::max(moments.largest, std::abs(static_cast<double>(value)));
  }
  moments.sd = std::sqrt(moments.sd);
  return moments;
}

TEST(Models, draw_initial_weights_of_torchvisions_spread) {
  // Relative standard error of a sample's standard deviation: 1 / sqrt(2 n), or 0.4% for the 36,864 values of each
  // convolution here. The tolerance is five times that.
  constexpr double kTolerance = 0.02;
  const Graph resnet = build_model({.name = "resnet18"});
  const double fan_out_sd = std::sqrt(2.0 / (128 * 9));  // layer2.0.conv1 has shape (128, 64, 3, 3)
  EXPECT_NEAR(initial_moments(resnet, "layer2.0.conv1.weight").sd / fan_out_sd, 1.0, kTolerance);
  const double bound = 1.0 / std::sqrt(512.0);
  EXPECT_LE(initial_moments(resnet, "fc.weight").largest, bound);
  EXPECT_NEAR(initial_moments(resnet, "fc.weight").sd / (bound / std::sqrt(3.0)), 1.0, kTolerance);
  EXPECT_LE(initial_moments(resnet, "fc.bias").largest, bound);
  EXPECT_GT(initial_moments(resnet, "fc.bias").largest, 0.5 * bound);
  const Graph densenet = build_model({.name = "densenet121"});
  const double fan_in_sd = std::sqrt(2.0 / (128 * 9));  // the convolution has shape (32, 128, 3, 3)
  const char* const conv = "features.denseblock1.denselayer1.conv2.weight";
  EXPECT_NEAR(initial_moments(densenet, conv).sd / fan_in_sd, 1.0, kTolerance);
  EXPECT_EQ(initial_moments(densenet, "classifier.bias").largest, 0.0);
}

std::string refusal(const ModelConfig& config) {
  try {
    static_cast<void>(build_model(config));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Models, that_are_unknown_are_refused_naming_the_known_ones) {
  EXPECT_EQ(refusal({.name = "resnet51"}),
            "[models.model] model: expected one of resnet18, resnet34, resnet50, resnet101, resnet152, densenet121, "
            "densenet169, densenet201, vgg16, vgg16_bn, vgg19, vgg19_bn, googlenet, inception_v3, inception_v4, got "
            "'resnet51'; try one of these, or the path of a graph text");
  EXPECT_THROW(static_cast<void>(torchvision_parameter_count("")), ConfigError);
}

TEST(Models, refuse_settings_out_of_range) {
  EXPECT_EQ(refusal({.labels = 0}), "[models.model] labels: expected at least 1, got 0; try another value");
  EXPECT_EQ(refusal({.channels = 2}), "[models.model] channels: expected 1 or 3, got 2; try another value");
  EXPECT_EQ(refusal({.image_px = 31}), "[models.model] image size: expected at least 32 px, got 31; try another value");
  EXPECT_EQ(refusal({.batch = 0}), "[models.model] batch: expected at least 1, got 0; try another value");
  EXPECT_EQ(refusal({.width = 12}),
            "[models.model] width: expected a multiple of 8, at most 4096, got 12; try another value");
  for (const std::int64_t width : {std::int64_t{0}, std::int64_t{4104}, std::int64_t{1} << 40}) {
    EXPECT_THAT(refusal({.width = width}), testing::HasSubstr("at most 4096, got " + std::to_string(width)));
  }
  EXPECT_EQ(refusal({.dilated_stages = 4}), "[models.model] dilated stages: expected 0 to 3, got 4; try another value");
  EXPECT_EQ(
      refusal({.name = "densenet121", .stride = ResNetStride::V1}),
      "[models.densenet] model.resnet: expected v1.5, because only ResNets have the variant v1, got v1; try --set "
      "model.resnet=v1.5");
}

TEST(Models, of_one_layout_refuse_another) {
  EXPECT_EQ(refusal({.name = "vgg16", .stem = Stem::Small}),
            "[models.vgg] stem: expected the default, the only value for this network, got small; try --set "
            "model.stem=imagenet");
  EXPECT_THAT(refusal({.name = "vgg16", .stride = ResNetStride::V1}), testing::HasSubstr("--set model.resnet=v1.5"));
  EXPECT_THAT(refusal({.name = "vgg16", .dilated_stages = 1}), testing::HasSubstr("--set model.dilated_stages=0"));
}

TEST(Models, refuse_images_that_are_too_small_for_them) {
  EXPECT_EQ(refusal({.name = "inception_v3", .image_px = 298}),
            "[models.model] image size of inception_v3 with its auxiliary classifier: expected at least 299 px, got "
            "298; try --set model.auxiliary=false, or preprocess.size=299");
  EXPECT_EQ(refusal({.name = "inception_v3", .image_px = 74, .auxiliary = false}),
            "[models.model] image size of inception_v3: expected at least 75 px, got 74; try --set "
            "preprocess.size=299");
  EXPECT_THAT(refusal({.name = "inception_v4", .image_px = 74}), testing::HasSubstr("at least 75 px, got 74"));
  EXPECT_EQ(refusal({.name = "inception_v3", .image_px = 299}), "accepted");
  EXPECT_EQ(refusal({.name = "inception_v4", .image_px = 75}), "accepted");
}

TEST(Models, read_the_words_of_a_recipe) {
  EXPECT_EQ(parse_stem("small"), Stem::Small);
  EXPECT_EQ(parse_stem("imagenet"), Stem::ImageNet);
  EXPECT_EQ(parse_resnet_stride("v1"), ResNetStride::V1);
  EXPECT_EQ(parse_resnet_stride("v1.5"), ResNetStride::V1_5);
  EXPECT_THROW(static_cast<void>(parse_stem("tiny")), ConfigError);
  EXPECT_THROW(static_cast<void>(parse_resnet_stride("v2")), ConfigError);
}

}  // namespace
}  // namespace roentgen::models
