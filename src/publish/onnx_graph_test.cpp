// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that the ONNX model of a network computes the same as the engine. A naive interpreter of ONNX's operators, in
// double, runs it. (tools/peers/check_onnx.py compares with onnxruntime.)
#include "publish/onnx_graph.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "engine/engine.h"
#include "graph/text.h"
#include "models/model.h"
#include "publish/onnx_interpreter_testing.h"

namespace roentgen::publish {
namespace {

using testing::Array;
using testing::Interpreter;

// Graph with every inference operator and unusual attributes: odd sizes, asymmetric padding, groups, dilation and
// pooling with a rounded-up size. It also has average pooling with and without padding, values with several readers,
// and a batch norm with a second input and ReLU.
constexpr std::string_view kAllOps = R"(graph "all"
input image (2, 3, 23, 19)
conv1 = conv2d(image, out=8, kernel=3x3, stride=2x2, pad=1x1)
norm1 = batch_norm(conv1)
relu1 = relu(norm1)
conv2 = conv2d(relu1, out=8, kernel=3x3, pad=2x2, dilation=2x2, groups=4, bias=no)
norm2 = batch_norm(conv2, relu1, relu=yes)
act = silu(norm2)
gate = sigmoid(act)
sum = add(gate, relu1)
most = max_pool(sum, kernel=3x3, stride=2x2, ceil=yes)
mean = avg_pool(most, kernel=2x2, stride=2x2, pad=1x1, count_pad=no)
mean2 = avg_pool(most, kernel=2x2, stride=2x2, pad=1x1)
both = concat(mean, mean2)
drop = dropout(both)
conv3 = conv2d(drop, out=6, kernel=1x1, bias=no)
norm3 = batch_norm(conv3)
pool = global_avg_pool(norm3)
flat = flatten(pool)
fc = linear(flat, out=5)
output logits = fc
)";

struct Network {
  graph::Graph graph;
  std::vector<train::NamedTensor> weights;
  std::vector<float> image;    // raw gray, 0 to 255
  std::vector<double> logits;  // logits of the engine
};

data::Preprocess preprocess_of(const graph::Graph& graph) {
  data::Preprocess preprocess = data::preset("imagenet");
  preprocess.size_px = graph.node(graph.find("image")).shape[2];
  return preprocess;
}

Network make_network(graph::Graph graph) {
  Network network{.graph = std::move(graph)};
  const auto engine = engine::make_engine("cpu");
  const auto executable = engine->compile(network.graph, {.form = engine::Form::Inference, .threads = 1});
  Random random(7, RandomStage::Test);
  for (std::size_t i = 0; i < network.graph.parameters().size(); ++i) {
    const graph::Parameter& parameter = network.graph.parameters()[i];
    train::NamedTensor tensor{parameter.name, parameter.shape, {}};
    for (std::int64_t k = 0; k < parameter.shape.elements(); ++k) {
      const bool is_positive =
          parameter.role == graph::Role::RunningVariance || parameter.role == graph::Role::NormScale;
      tensor.values.push_back(static_cast<float>(is_positive ? random.uniform(0.5, 2.0) : 0.3 * random.normal()));
    }
    executable->load(static_cast<std::int32_t>(i), tensor.values);
    network.weights.push_back(std::move(tensor));
  }
  const data::Preprocess preprocess = preprocess_of(network.graph);
  const Shape& shape = network.graph.node(network.graph.find("image")).shape;
  const std::span<std::byte> bytes = executable->slot(0, 0);
  auto* slot = reinterpret_cast<float*>(bytes.data());
  const std::int64_t plane = shape[2] * shape[3];
  for (std::int64_t i = 0; i < shape[0] * plane; ++i) {
    const double gray = std::floor(random.uniform(0.0, 256.0));
    network.image.push_back(static_cast<float>(gray));
    for (std::int64_t c = 0; c < 3; ++c) {
      const auto channel = static_cast<std::size_t>(c);
      slot[(i / plane * 3 + c) * plane + i % plane] =
          static_cast<float>((gray / 255.0 - preprocess.mean[channel]) / preprocess.stddev[channel]);
    }
  }
  executable->bind_slot(0);
  executable->forward();
  const std::span<const float> logits = executable->read("logits");
  network.logits.assign(logits.begin(), logits.end());
  return network;
}

graph::Graph all_ops() { return graph::parse_graph(kAllOps, "all").or_throw(); }

Interpreter run(const io::OnnxModel& model, const Network& network) {
  Interpreter interpreter(model);
  const Shape& shape = network.graph.node(network.graph.find("image")).shape;
  interpreter.set("image", {{shape[0], 1, shape[2], shape[3]}, {network.image.begin(), network.image.end()}});
  for (const io::OnnxNode& node : model.nodes) interpreter.run(node);
  return interpreter;
}

// Expects logits that differ only by rounding: the engine computes in f32, with an error of a few ulps in each of the
// layers.
void expect_close(const Array& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(got.values[i], wanted[i], 2e-5 * (1 + std::abs(wanted[i])));
}

class OnnxGraph : public ::testing::TestWithParam<bool> {};

TEST_P(OnnxGraph, of_all_ops_computes_what_the_engine_does) {
  const Network network = make_network(all_ops());
  const io::OnnxModel model =
      to_onnx(network.graph, network.weights,
              {.preprocess = preprocess_of(network.graph), .is_folding_batch_norm = GetParam()});
  expect_close(run(model, network).get("logits"), network.logits);
  const auto norms = std::ranges::count(model.nodes, "BatchNormalization", &io::OnnxNode::op);
  EXPECT_EQ(norms, GetParam() ? 0 : 3);
}

TEST_P(OnnxGraph, of_networks_computes_what_the_engine_does) {
  for (const char* name : {"resnet18", "densenet121", "vgg16_bn", "googlenet"}) {
    const bool is_pooled_often = std::string_view(name) == "vgg16_bn" || std::string_view(name) == "googlenet";
    const std::int64_t image_px = is_pooled_often ? 64 : 32;
    const Network network = make_network(
        models::build_model({.name = name, .labels = 3, .channels = 3, .image_px = image_px, .batch = 1, .width = 16}));
    const io::OnnxModel model =
        to_onnx(network.graph, network.weights,
                {.preprocess = preprocess_of(network.graph), .is_folding_batch_norm = GetParam()});
    expect_close(run(model, network).get("logits"), network.logits);
  }
}
INSTANTIATE_TEST_SUITE_P(Folding, OnnxGraph, ::testing::Bool());

TEST(OnnxOutput, is_the_losses_own_after_temperature) {
  const Network network = make_network(all_ops());
  for (const char* loss : {"sigmoid", "softmax"}) {
    const io::OnnxModel model = to_onnx(
        network.graph, network.weights,
        {.preprocess = preprocess_of(network.graph), .loss = loss, .temperature = 2.5, .metadata = {{"k", "v"}}});
    const Interpreter result = run(model, network);
    const std::vector<double>& logits = result.get("logits").values;
    const std::vector<double>& got = result.get("probabilities").values;
    ASSERT_EQ(got.size(), 10U);
    double sum = 0.0;
    for (std::size_t k = 0; k < 5; ++k) sum += std::exp(logits[k] / 2.5);
    for (std::size_t k = 0; k < 5; ++k) {
      const double e = std::exp(logits[k] / 2.5);
      EXPECT_NEAR(got[k], std::string(loss) == "softmax" ? e / sum : e / (1.0 + e), 1e-12);
    }
    EXPECT_EQ(model.metadata.at("k"), "v");
  }
}

TEST(OnnxOutput, has_a_free_batch_and_one_gray_channel) {
  const Network network = make_network(all_ops());
  const io::OnnxModel model = to_onnx(network.graph, network.weights, {.preprocess = preprocess_of(network.graph)});
  ASSERT_EQ(model.inputs.size(), 1U);
  EXPECT_EQ(model.inputs[0].shape, (Shape{1, 1, 23, 19}));
  EXPECT_EQ(model.inputs[0].symbols.at(0), "N");
  ASSERT_EQ(model.outputs.size(), 2U);
  EXPECT_EQ(model.outputs[0].name, "probabilities");
  EXPECT_EQ(model.outputs[0].shape, (Shape{1, 5}));
}

void expect_refused(const Network& network, const std::vector<train::NamedTensor>& weights, const std::string& words) {
  try {
    (void)to_onnx(network.graph, weights, {.preprocess = preprocess_of(network.graph)});
    FAIL() << "accepted, not refused with " << words;
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(OnnxOutput, refuses_weights_of_another_network) {
  const Network network = make_network(all_ops());
  std::vector<train::NamedTensor> weights = network.weights;
  weights.erase(weights.begin());
  expect_refused(network, weights, "conv1.weight: expected a tensor of (8, 3, 3, 3), got no such tensor");
  weights = network.weights;
  weights[0].shape = {8, 1, 3, 3};
  expect_refused(network, weights, "got (8, 1, 3, 3)");
}

}  // namespace
}  // namespace roentgen::publish
