// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "data/source/source_testing.h"
#include "graph/builder.h"
#include "graph/text.h"

namespace roentgen::train {
namespace {

using data::message_of;
using testing::HasSubstr;

// Network conv (3x3) -> batch norm -> pool -> fc, similar to the first and last layers of a ResNet.
graph::Graph small_net(std::int64_t channels, std::int64_t labels) {
  graph::Builder builder("small");
  const auto image = builder.input("image", Shape{2, channels, 8, 8});
  const auto conv = builder.add("conv1", graph::Conv2d{.out_channels = 4, .kernel = {3, 3}, .bias = false}, {image});
  const auto norm = builder.add("bn1", graph::BatchNorm{}, {conv});
  const auto pool = builder.add("pool", graph::GlobalAvgPool{}, {norm});
  const auto flat = builder.add("flat", graph::Flatten{}, {pool});
  builder.output("logits", builder.add("fc", graph::Linear{.out_features = labels}, {flat}));
  return std::move(builder).build();
}

std::vector<NamedTensor> random_weights(const graph::Graph& model, std::uint64_t seed) {
  std::vector<NamedTensor> tensors;
  for (const graph::Parameter& parameter : model.parameters()) {
    Random random(seed, RandomStage::Test, tensors.size());
    std::vector<float> values(static_cast<std::size_t>(parameter.shape.elements()));
    for (float& value : values) value = static_cast<float>(random.uniform(-1.0, 1.0));
    tensors.push_back({.name = parameter.name, .shape = parameter.shape, .values = std::move(values)});
  }
  return tensors;
}

const NamedTensor& named(const std::vector<NamedTensor>& tensors, std::string_view name) {
  for (const NamedTensor& tensor : tensors) {
    if (tensor.name == name) return tensor;
  }
  throw std::runtime_error("no " + std::string(name));
}

TEST(Import, refuses_two_tensors_that_become_one_name) {
  const graph::Graph model = small_net(1, 2);
  ImportSource source{
      .tensors = random_weights(model, 1), .labels = {}, .preprocess = data::preset("xray"), .what = "w"};
  NamedTensor twin = named(source.tensors, "conv1.weight");
  twin.name = "module.conv1.weight";
  source.tensors.push_back(std::move(twin));
  EXPECT_THAT(
      message_of<ConfigError>([&] {
        static_cast<void>(adapt(source, {.model = model, .labels = {}, .preprocess = data::preset("xray"), .seed = 0}));
      }),
      AllOf(HasSubstr("w: conv1.weight"), HasSubstr("got conv1.weight and module.conv1.weight")));
}

// Computes convolution + batch norm (inference) for one window of gray values v, in double, directly from the
// definitions.
double normalised_response(const std::vector<NamedTensor>& tensors, const data::Preprocess& preprocess,
                           const std::vector<double>& window, std::int64_t oc) {
  const NamedTensor& weights = named(tensors, "conv1.weight");
  const std::int64_t IC = weights.shape[1];
  double sum = 0.0;
  for (std::int64_t ic = 0; ic < IC; ++ic) {
    for (std::int64_t k = 0; k < 9; ++k) {
      const double x = (window[static_cast<std::size_t>(k)] - preprocess.mean[static_cast<std::size_t>(ic)]) /
                       preprocess.stddev[static_cast<std::size_t>(ic)];
      sum += static_cast<double>(weights.values[static_cast<std::size_t>((oc * IC + ic) * 9 + k)]) * x;
    }
  }
  return sum - static_cast<double>(named(tensors, "bn1.running_mean").values[static_cast<std::size_t>(oc)]);
}

TEST(Adapt, folds_three_channels_into_one_exactly) {
  const graph::Graph colour = small_net(3, 5);
  const graph::Graph gray = small_net(1, 5);
  const ImportSource source{
      .tensors = random_weights(colour, 1), .labels = {}, .preprocess = data::preset("imagenet"), .what = "w"};
  const ImportTarget target{.model = gray, .labels = {"a", "b", "c", "d", "e"}, .preprocess = data::preset("xray")};
  const Import import = adapt(source, target);
  ASSERT_TRUE(compare(import.tensors, gray.parameters()).is_clean());
  Random random(2, RandomStage::Test);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> window(9);
    for (double& v : window) v = random.uniform();
    for (std::int64_t oc = 0; oc < 4; ++oc) {
      // Bound: converted weights are rounded to float32 once, and 9 terms of about 10 have a relative error of 2^-24.
      EXPECT_NEAR(normalised_response(source.tensors, source.preprocess, window, oc),
                  normalised_response(import.tensors, target.preprocess, window, oc), 2e-5);
    }
  }
}

// VGG's own "classifier.0" must not lose its prefix.
TEST(Adapt, keeps_a_name_that_the_model_has) {
  const graph::Graph vgg = graph::parse_graph(
                               "graph \"vgg\"\ninput image (1, 1, 2, 2)\nflat = flatten(image)\n"
                               "classifier.0 = linear(flat, out=2)\noutput logits = classifier.0\n",
                               "vgg")
                               .or_throw();
  data::Preprocess gray;
  ImportSource source{.tensors = {{"vgg16_bn.classifier.0.weight", {2, 4}, std::vector<float>(8, 1.0F)},
                                  {"classifier.0.bias", {2}, {1.0F, 2.0F}}},
                      .labels = {},
                      .preprocess = gray,
                      .what = "file"};
  const Import import = adapt(std::move(source), {.model = vgg, .labels = {"a", "b"}, .preprocess = gray, .seed = 1});
  ASSERT_EQ(import.tensors.size(), 2U);
  EXPECT_EQ(import.tensors[0].name, "classifier.0.weight");
  EXPECT_EQ(import.tensors[1].name, "classifier.0.bias");
}

TEST(Adapt, resets_auxiliary_heads_as_well) {
  const graph::Graph two = graph::parse_graph(
                               "graph \"two\"\ninput image (1, 1, 2, 2)\nflat = flatten(image)\n"
                               "early = linear(flat, out=2)\naux = auxiliary(early)\n"
                               "fc = linear(flat, out=2)\noutput logits = fc\n",
                               "two")
                               .or_throw();
  data::Preprocess gray;
  ImportSource source{.tensors = {{"early.weight", {5, 4}, std::vector<float>(20, 1.0F)},
                                  {"early.bias", {5}, std::vector<float>(5)},
                                  {"fc.weight", {5, 4}, std::vector<float>(20, 1.0F)},
                                  {"fc.bias", {5}, std::vector<float>(5)}},
                      .labels = {},
                      .preprocess = gray,
                      .what = "file"};
  const Import import = adapt(std::move(source), {.model = two, .labels = {"a", "b"}, .preprocess = gray, .seed = 1});
  EXPECT_TRUE(compare(import.tensors, two.parameters()).is_clean());
}

TEST(Adapt, leaves_weights_of_the_same_preprocessing_alone) {
  const graph::Graph gray = small_net(1, 2);
  const ImportSource source{
      .tensors = random_weights(gray, 1), .labels = {"a", "b"}, .preprocess = data::preset("xray"), .what = "w"};
  const Import import =
      adapt(source, {.model = gray, .labels = {"a", "b"}, .preprocess = data::preset("xray"), .seed = 1});
  for (std::size_t i = 0; i < source.tensors.size(); ++i) {
    EXPECT_EQ(import.tensors[i].values, source.tensors[i].values) << source.tensors[i].name;
  }
  EXPECT_TRUE(import.notes.empty());
}

TEST(Adapt, resets_the_head_when_labels_are_others) {
  const graph::Graph many = small_net(1, 5);
  const graph::Graph two = small_net(1, 2);
  const ImportTarget target{.model = two, .labels = {"a", "b"}, .preprocess = data::preset("xray"), .seed = 3};
  const Import fewer = adapt(
      {.tensors = random_weights(many, 1), .labels = {}, .preprocess = data::preset("xray"), .what = "w"}, target);
  EXPECT_TRUE(compare(fewer.tensors, two.parameters()).is_clean());
  EXPECT_EQ(named(fewer.tensors, "fc.weight").values,
            graph::initial_values(two.parameter(two.node(two.find("fc")).parameters[0]), 3));
  // The number of labels is equal, but the names differ.
  const ImportSource renamed{
      .tensors = random_weights(two, 1), .labels = {"b", "a"}, .preprocess = data::preset("xray"), .what = "w"};
  EXPECT_NE(named(adapt(renamed, target).tensors, "fc.weight").values, named(renamed.tensors, "fc.weight").values);
}

TEST(Adapt, refuses_gray_weights_for_a_colour_input) {
  const graph::Graph gray = small_net(1, 2);
  const graph::Graph colour = small_net(3, 2);
  const ImportSource source{
      .tensors = random_weights(gray, 1), .labels = {}, .preprocess = data::preset("xray"), .what = "gray.st"};
  const std::string message = message_of<ConfigError>([&] {
    static_cast<void>(
        adapt(source, {.model = colour, .labels = {"a", "b"}, .preprocess = data::preset("imagenet"), .seed = 1}));
  });
  EXPECT_THAT(message, HasSubstr("conv1.weight"));
}

TEST(ReadImport, asks_for_a_preset_when_the_file_is_mute) {
  const data::TestFolder folder;
  const auto path = folder.path() / "w.safetensors";
  write_weights(path, random_weights(small_net(3, 5), 1), 0, {});
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(read_import(path, "")); }), HasSubstr("--init-preset"));
  const ImportSource source = read_import(path, "imagenet");
  EXPECT_EQ(source.preprocess.channels, 3);
  EXPECT_EQ(source.tensors.size(), small_net(3, 5).parameters().size());
}

}  // namespace
}  // namespace roentgen::train
