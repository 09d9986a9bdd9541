// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Small networks with the structures of real ones, in which fusion, virtual concatenation, sums of gradients and memory
// planning interact.
#include "engine/conformance/cases.h"

namespace roentgen::engine::conformance {
namespace {
using graph::Add;
using graph::BatchNorm;
using graph::Concat;
using graph::Conv2d;
using graph::NodeId;
using graph::Relu;

Conv2d conv3x3(std::int64_t out, std::int64_t stride = 1) {
  return {.out_channels = out, .kernel = {3, 3}, .stride = {stride, stride}, .pad = {1, 1}, .bias = false};
}
Conv2d conv1x1(std::int64_t out, std::int64_t stride = 1) {
  return {.out_channels = out, .stride = {stride, stride}, .bias = false};
}

/// Adds relu(batch_norm(src)) as two nodes, which the passes may join.
NodeId norm_relu(CaseBuilder& builder, const std::string& name, NodeId src) {
  const NodeId norm = builder.add(name, BatchNorm{}, {src});
  return builder.add(name + "_relu", Relu{}, {norm});
}

NodeId stem(CaseBuilder& builder, std::int64_t channels) {
  const NodeId image = builder.image({2, 1, 32, 32});
  const NodeId conv = builder.add(
      "stem.conv", Conv2d{.out_channels = channels, .kernel = {7, 7}, .stride = {2, 2}, .pad = {3, 3}, .bias = false},
      {image});
  const NodeId relu = norm_relu(builder, "stem.norm", conv);
  return builder.add("stem.pool", graph::MaxPool{.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}}, {relu});
}

NodeId basic_block(CaseBuilder& builder, const std::string& name, NodeId src, std::int64_t out, std::int64_t stride) {
  const NodeId conv1 = builder.add(name + ".conv1", conv3x3(out, stride), {src});
  const NodeId relu1 = norm_relu(builder, name + ".bn1", conv1);
  const NodeId conv2 = builder.add(name + ".conv2", conv3x3(out), {relu1});
  const NodeId norm2 = builder.add(name + ".bn2", BatchNorm{}, {conv2});
  NodeId shortcut = src;
  if (stride != 1 || builder.shape(src)[1] != out) {
    const NodeId down = builder.add(name + ".downsample.0", conv1x1(out, stride), {src});
    shortcut = builder.add(name + ".downsample.1", BatchNorm{}, {down});
  }
  const NodeId sum = builder.add(name + ".add", Add{}, {norm2, shortcut});
  return builder.add(name + ".relu", Relu{}, {sum});
}

/// Adds BN-ReLU-conv1x1-BN-ReLU-conv3x3 on all features so far (Huang et al. 2017).
NodeId dense_layer(CaseBuilder& builder, const std::string& name, const std::vector<NodeId>& features,
                   std::int64_t growth) {
  const NodeId all = builder.add(name + ".concat", Concat{}, features);
  const NodeId relu1 = norm_relu(builder, name + ".norm1", all);
  const NodeId conv1 = builder.add(name + ".conv1", conv1x1(2 * growth), {relu1});
  const NodeId relu2 = norm_relu(builder, name + ".norm2", conv1);
  return builder.add(name + ".conv2", conv3x3(growth), {relu2});
}

Case finish_pooled(CaseBuilder builder, NodeId last) {
  const NodeId pool = builder.add("pool", graph::GlobalAvgPool{}, {last});
  return std::move(builder).finish(pool);
}

Case residual_network() {
  CaseBuilder builder("network.residual");
  NodeId x = stem(builder, 16);
  x = basic_block(builder, "layer1.0", x, 16, 1);
  x = basic_block(builder, "layer2.0", x, 32, 2);
  x = basic_block(builder, "layer2.1", x, 32, 1);
  return finish_pooled(std::move(builder), x);
}

Case bottleneck_network() {
  CaseBuilder builder("network.bottleneck");
  const NodeId src = norm_relu(builder, "in", builder.upstream({2, 32, 7, 7}));
  const NodeId a = norm_relu(builder, "bn1", builder.add("conv1", conv1x1(16), {src}));
  const NodeId b = norm_relu(builder, "bn2", builder.add("conv2", conv3x3(16, 2), {a}));
  const NodeId c = builder.add("bn3", BatchNorm{}, {builder.add("conv3", conv1x1(64), {b})});
  const NodeId down = builder.add("down.bn", BatchNorm{}, {builder.add("down.conv", conv1x1(64, 2), {src})});
  return std::move(builder).finish(builder.add("relu", Relu{}, {builder.add("add", Add{}, {c, down})}));
}

Case dense_network(const std::string& name, std::int64_t growth, std::int64_t layers) {
  CaseBuilder builder(name);
  std::vector<NodeId> features{stem(builder, 2 * growth)};
  for (std::int64_t i = 1; i <= layers; ++i) {
    features.push_back(dense_layer(builder, "block1.layer" + std::to_string(i), features, growth));
  }
  const NodeId all = builder.add("block1.concat", Concat{}, features);
  const NodeId transition =
      builder.add("transition.conv", conv1x1(2 * growth), {norm_relu(builder, "transition.norm", all)});
  const NodeId pooled = builder.add("transition.pool", graph::AvgPool{}, {transition});
  std::vector<NodeId> second{pooled};
  for (std::int64_t i = 1; i <= 2; ++i) {
    second.push_back(dense_layer(builder, "block2.layer" + std::to_string(i), second, growth));
  }
  const NodeId last = norm_relu(builder, "norm5", builder.add("block2.concat", Concat{}, second));
  return finish_pooled(std::move(builder), last);
}

/// Inputs of a virtual concatenation that also have other readers: a convolution, a separate batch norm, a second
/// concatenation.
Case shared_segments() {
  CaseBuilder builder("network.segments_read_elsewhere");
  const NodeId a = builder.upstream({2, 16, 6, 6}, "a");
  const NodeId b = builder.upstream({2, 24, 6, 6}, "b");
  const NodeId c = builder.upstream({2, 8, 6, 6}, "c");
  const NodeId all = norm_relu(builder, "norm_all", builder.add("concat_all", Concat{}, {a, b, c}));
  const NodeId pair = norm_relu(builder, "norm_pair", builder.add("concat_pair", Concat{}, {c, a}));
  const NodeId out1 = builder.add("out1", conv1x1(16), {all});
  const NodeId out2 = builder.add("out2", conv3x3(16), {pair});
  const NodeId out3 = builder.add("out3", conv3x3(16), {a});
  const NodeId out4 = builder.add("out4", conv1x1(16), {norm_relu(builder, "norm_b", b)});
  const NodeId sum =
      builder.add("sum1", Add{}, {builder.add("sum2", Add{}, {out1, out2}), builder.add("sum3", Add{}, {out3, out4})});
  return std::move(builder).finish(sum);
}

/// Concatenation read by a batch norm and by a convolution, so that it cannot be virtual.
Case stored_concat() {
  CaseBuilder builder("network.concat_read_by_conv_and_norm");
  const NodeId a = builder.upstream({2, 16, 6, 6}, "a");
  const NodeId b = builder.upstream({2, 20, 6, 6}, "b");
  const NodeId all = builder.add("concat", Concat{}, {a, b});
  const NodeId left = builder.add("left", conv1x1(16), {all});
  const NodeId right = builder.add("right", conv1x1(16), {norm_relu(builder, "norm", all)});
  return std::move(builder).finish(builder.add("sum", Add{}, {left, right}));
}

/// Two batch norms with separate parameters that read the same virtual concatenation.
Case two_norms_of_one_concat() {
  CaseBuilder builder("network.two_norms_of_one_concat");
  const NodeId a = builder.upstream({3, 16, 5, 5}, "a");
  const NodeId b = builder.upstream({3, 32, 5, 5}, "b");
  const NodeId all = builder.add("concat", Concat{}, {a, b});
  const NodeId left = builder.add("left", conv1x1(16), {norm_relu(builder, "norm1", all)});
  const NodeId right = builder.add("right", conv3x3(16), {builder.add("norm2", BatchNorm{}, {all})});
  return std::move(builder).finish(builder.add("sum", Add{}, {left, right}));
}

/// Concatenation that contains a value twice: its batch norm adds two gradients of the value.
Case value_twice_in_a_concat() {
  CaseBuilder builder("network.value_twice_in_a_concat");
  const NodeId a = builder.upstream({3, 16, 5, 5}, "a");
  const NodeId b = builder.upstream({3, 16, 5, 5}, "b");
  const NodeId all = builder.add("concat", Concat{}, {a, b, a});
  const NodeId left = builder.add("left", conv1x1(16), {norm_relu(builder, "norm1", all)});
  const NodeId right = builder.add("right", conv1x1(16), {norm_relu(builder, "norm2", all)});
  return std::move(builder).finish(builder.add("sum", Add{}, {left, right}));
}

/// Input of a virtual concatenation that is itself a batch norm and receives three gradients. One comes from the
/// concatenation, two from a batch norm that reads it as source and as residual.
Case segment_with_three_gradients() {
  CaseBuilder builder("network.segment_with_three_gradients");
  const NodeId segment = builder.add("segment", BatchNorm{.epsilon = 0.1}, {builder.upstream({2, 16, 6, 6})});
  const NodeId all = builder.add("concat", Concat{}, {segment});
  const NodeId norm = builder.add("norm", BatchNorm{.epsilon = 0.1}, {all});
  const NodeId twice = builder.add("twice", BatchNorm{.epsilon = 0.1}, {segment, segment});
  return std::move(builder).finish(builder.add("sum", Add{}, {norm, twice}));
}

/// Case of one value with three readers that are different ops.
Case fan_out_of_three() {
  CaseBuilder builder("network.one_value_read_by_three");
  const NodeId x = norm_relu(builder, "in", builder.upstream({2, 16, 6, 6}));
  const NodeId conv = builder.add("conv", conv3x3(16), {x});
  const NodeId norm = builder.add("norm", BatchNorm{}, {x});
  const NodeId sum = builder.add("sum1", Add{}, {conv, norm});
  return std::move(builder).finish(builder.add("sum2", Add{}, {sum, x}));
}

/// Convolution whose output is read by two batch norms and a ReLU, which no fusion expects.
Case conv_read_by_two_norms() {
  CaseBuilder builder("network.conv_read_by_two_norms");
  const NodeId conv = builder.add("conv", conv3x3(24), {builder.upstream({2, 16, 6, 6})});
  const NodeId a = norm_relu(builder, "norm1", conv);
  const NodeId b = builder.add("norm2", BatchNorm{}, {conv});
  const NodeId c = builder.add("relu", Relu{}, {conv});
  return std::move(builder).finish(builder.add("sum2", Add{}, {builder.add("sum1", Add{}, {a, b}), c}));
}

/// Batch norm before a ReLU with a second reader, so that the two must not be joined.
Case norm_read_before_relu() {
  CaseBuilder builder("network.norm_read_before_relu");
  const NodeId norm = builder.add("norm", BatchNorm{}, {builder.upstream({2, 16, 6, 6})});
  const NodeId relu = builder.add("relu", Relu{}, {norm});
  const NodeId conv = builder.add("conv", conv3x3(16), {relu});
  return std::move(builder).finish(builder.add("sum", Add{}, {conv, norm}));
}

/// Sums relu(a + batch_norm(b)) and relu(batch_norm(a) + batch_norm(b)) where the sum before the ReLU has another
/// reader.
Case sum_read_before_relu() {
  CaseBuilder builder("network.sum_read_before_relu");
  const NodeId a = builder.upstream({2, 16, 6, 6}, "a");
  const NodeId b = builder.add("norm", BatchNorm{}, {builder.upstream({2, 16, 6, 6}, "b")});
  const NodeId sum = builder.add("sum", Add{}, {a, b});
  const NodeId relu = builder.add("relu", Relu{}, {sum});
  const NodeId conv = builder.add("conv", conv3x3(16), {relu});
  return std::move(builder).finish(builder.add("sum2", Add{}, {conv, sum}));
}

/// Network relu(batch_norm(x) + x), where the residual is the normalised value itself.
Case residual_is_the_source() {
  CaseBuilder builder("network.residual_is_the_source");
  const NodeId up = builder.upstream({2, 16, 6, 6});
  const NodeId norm = builder.add("norm", BatchNorm{}, {up});
  return std::move(builder).finish(builder.add("relu", Relu{}, {builder.add("sum", Add{}, {norm, up})}));
}

/// Convolutions with bias and in-place ReLU, dropout with probability 0, and two linear layers, as in VGG.
Case plain_network() {
  CaseBuilder builder("network.plain");
  NodeId x = builder.image({2, 3, 16, 16});
  for (const std::int64_t out : {16, 24, 32}) {
    const std::string name = "conv" + std::to_string(out);
    x = builder.add(name, Conv2d{.out_channels = out, .kernel = {3, 3}, .pad = {1, 1}}, {x});
    x = builder.add(name + "_relu", Relu{}, {x});
    x = builder.add(name + "_pool", graph::MaxPool{}, {x});
  }
  x = builder.add("flat", graph::Flatten{}, {x});
  x = builder.add("fc1", graph::Linear{.out_features = 40}, {x});
  x = builder.add("fc1_relu", Relu{}, {x});
  x = builder.add("drop", graph::Dropout{.probability = 0.0}, {x});
  return std::move(builder).finish(x);
}

/// Grouped and depthwise convolutions between batch norms. They have other layouts than the batch norms.
Case grouped_network() {
  CaseBuilder builder("network.grouped");
  NodeId x = norm_relu(builder, "bn0", builder.upstream({2, 32, 8, 8}));
  x = builder.add("grouped", Conv2d{.out_channels = 32, .kernel = {3, 3}, .pad = {1, 1}, .groups = 8, .bias = false},
                  {x});
  x = norm_relu(builder, "bn1", x);
  x = builder.add(
      "depthwise",
      Conv2d{.out_channels = 32, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}, .groups = 32, .bias = false}, {x});
  x = norm_relu(builder, "bn2", x);
  x = builder.add("pointwise", conv1x1(24), {x});
  return finish_pooled(std::move(builder), norm_relu(builder, "bn3", x));
}

/// Network with smooth activations only, so that no derivative jumps.
Case smooth_network() {
  CaseBuilder builder("network.smooth");
  NodeId x = builder.upstream({2, 16, 8, 8});
  for (const std::int64_t out : {16, 32}) {
    const std::string name = "conv" + std::to_string(out);
    x = builder.add(name, conv3x3(out, 2), {x});
    x = builder.add(name + "_bn", BatchNorm{}, {x});
    x = builder.add(name + "_silu", graph::Silu{}, {x});
  }
  return finish_pooled(std::move(builder), x);
}

/// Inner values that are also outputs, as class activation maps need. Their memory must outlive their readers.
Case inner_outputs() {
  CaseBuilder builder("network.inner_outputs");
  const NodeId up = builder.upstream({2, 16, 6, 6});
  const NodeId norm = builder.add("norm", BatchNorm{}, {up});
  const NodeId relu = builder.add("relu", Relu{}, {norm});
  const NodeId conv = builder.add("conv", conv3x3(20), {relu});
  builder.output("before_norm", up);
  builder.output("before_relu", norm);
  builder.output("features", conv);
  return finish_pooled(std::move(builder), norm_relu(builder, "last", conv));
}

/// Residual that is read again after the addition, so the sum in inference must not overwrite it.
Case residual_read_later() {
  CaseBuilder builder("network.residual_read_later");
  const NodeId up = builder.upstream({2, 24, 6, 6});
  const NodeId norm = builder.add("norm", BatchNorm{}, {builder.add("conv", conv3x3(24), {up})});
  const NodeId relu = builder.add("relu", Relu{}, {builder.add("add", Add{}, {norm, up})});
  const NodeId after = norm_relu(builder, "last", builder.add("after", conv3x3(24), {relu}));
  return std::move(builder).finish(builder.add("again", Add{}, {after, up}));
}

/// Layers with only biases and activations, as in VGG: convolutions, then linear layers. One convolution with bias has
/// a batch norm after it.
Case biased_layers() {
  CaseBuilder builder("network.biased_layers");
  NodeId x = builder.upstream({2, 16, 9, 9});
  const Conv2d biased{.out_channels = 32, .kernel = {3, 3}, .pad = {1, 1}};
  builder.zero_gradient("conv2.bias");
  x = builder.add("conv1_relu", Relu{}, {builder.add("conv1", biased, {x})});
  x = norm_relu(builder, "norm2", builder.add("conv2", biased, {x}));
  x = builder.add("pool", graph::MaxPool{.kernel = {3, 3}, .stride = {3, 3}}, {x});
  x = builder.add("flat", graph::Flatten{}, {x});
  x = builder.add("linear1_relu", Relu{}, {builder.add("linear1", graph::Linear{.out_features = 20}, {x})});
  x = builder.add("drop", graph::Dropout{.probability = 0.0}, {x});
  x = builder.add("linear2", graph::Linear{.out_features = 20}, {x});
  return std::move(builder).finish(builder.add("linear2_relu", Relu{}, {x}));
}

/// Branch whose value has no reader. It must neither fail nor get a gradient.
Case dead_branch() {
  CaseBuilder builder("network.dead_branch");
  const NodeId up = builder.upstream({2, 16, 6, 6});
  const NodeId dead = builder.add("dead", conv3x3(16), {up});
  builder.add("dead_relu", Relu{}, {dead});
  builder.zero_gradient("dead.weight");
  return std::move(builder).finish(builder.add("live", conv3x3(16), {up}));
}
}  // namespace

std::vector<Case> network_cases() {
  return {
      residual_network(),
      bottleneck_network(),
      dense_network("network.dense", 16, 3),
      dense_network("network.dense_growth_12", 12, 3),
      dense_network("network.dense_growth_32", 32, 2),
      shared_segments(),
      stored_concat(),
      two_norms_of_one_concat(),
      value_twice_in_a_concat(),
      segment_with_three_gradients(),
      fan_out_of_three(),
      conv_read_by_two_norms(),
      norm_read_before_relu(),
      sum_read_before_relu(),
      residual_is_the_source(),
      plain_network(),
      grouped_network(),
      smooth_network(),
      inner_outputs(),
      dead_branch(),
      residual_read_later(),
      biased_layers(),
  };
}

}  // namespace roentgen::engine::conformance
