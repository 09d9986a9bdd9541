// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Conformance cases of ReLU, SiLU, sigmoid, add, concat, dropout, flatten and linear.
#include "engine/conformance/cases.h"

namespace roentgen::engine::conformance {
namespace {
using graph::NodeId;

/// Case of upstream -> flatten -> linear(`features`) -> op.
Case on_rows(const std::string& name, graph::Op op, std::int64_t features) {
  CaseBuilder builder(name);
  const NodeId rows = builder.add("rows0", graph::Flatten{}, {builder.upstream({3, 4, 2, 3})});
  const NodeId linear = builder.add("linear0", graph::Linear{.out_features = features}, {rows});
  return std::move(builder).finish(builder.add("op", std::move(op), {linear}));
}

/// Case of upstream -> op -> convolution. Its sums show what an op writes into the padding of channel blocks.
Case read_by_convolution(const std::string& name, graph::Op op, const Shape& shape) {
  CaseBuilder builder(name);
  const NodeId node = builder.add("op", std::move(op), {builder.upstream(shape)});
  return std::move(builder).finish(builder.add("after", graph::Conv2d{.out_channels = 16, .kernel = {3, 3}}, {node}));
}

/// Case of a concatenation of convolutions with these numbers of channels.
Case concat_of(const std::string& name, const std::vector<std::int64_t>& channels) {
  CaseBuilder builder(name);
  std::vector<NodeId> inputs;
  for (const std::int64_t C : channels) {
    inputs.push_back(builder.upstream({2, C, 5, 6}, "up" + std::to_string(inputs.size())));
  }
  return std::move(builder).finish(builder.add("op", graph::Concat{}, inputs));
}

/// Case of a dropout named "drop". Its value is also an output, so that the test can read the mask that the engine
/// drew.
Case dropout_case(const std::string& name, double probability, const Shape& shape) {
  CaseBuilder builder(name);
  const NodeId drop = builder.add("drop", graph::Dropout{.probability = probability}, {builder.upstream(shape)});
  builder.output("drop", drop);
  return std::move(builder).finish(drop);
}

Case dropout_on_rows() {
  CaseBuilder builder("dropout.rows");
  const NodeId rows = builder.add("rows0", graph::Flatten{}, {builder.upstream({3, 16, 3, 3})});
  const NodeId drop = builder.add("drop", graph::Dropout{.probability = 0.5}, {rows});
  builder.output("drop", drop);
  return std::move(builder).finish(drop);
}

Case add_case(const std::string& name, const Shape& shape) {
  CaseBuilder builder(name);
  const NodeId a = builder.upstream(shape, "a");
  const NodeId b = builder.upstream(shape, "b");
  return std::move(builder).finish(builder.add("op", graph::Add{}, {a, b}));
}

Case add_of_one_value() {
  CaseBuilder builder("add.one_value_twice");
  const NodeId a = builder.upstream({2, 16, 5, 5});
  return std::move(builder).finish(builder.add("op", graph::Add{}, {a, a}));
}

Case add_of_rows() {
  CaseBuilder builder("add.rows");
  const NodeId rows = builder.add("rows0", graph::Flatten{}, {builder.upstream({3, 4, 2, 3})});
  const NodeId a = builder.add("a", graph::Linear{.out_features = 7}, {rows});
  const NodeId b = builder.add("b", graph::Linear{.out_features = 7}, {rows});
  return std::move(builder).finish(builder.add("op", graph::Add{}, {a, b}));
}

Case concat_of_one_value_twice() {
  CaseBuilder builder("concat.one_value_twice");
  const NodeId a = builder.upstream({2, 16, 5, 5});
  return std::move(builder).finish(builder.add("op", graph::Concat{}, {a, a}));
}

Case concat_with_image() {
  CaseBuilder builder("concat.with_the_image");
  const NodeId image = builder.image({2, 3, 5, 5});
  const NodeId a = builder.upstream({2, 16, 5, 5});
  return std::move(builder).finish(builder.add("op", graph::Concat{}, {image, a}));
}

Case concat_of_concats() {
  CaseBuilder builder("concat.nested");
  const NodeId a = builder.upstream({2, 16, 5, 5}, "a");
  const NodeId b = builder.upstream({2, 8, 5, 5}, "b");
  const NodeId c = builder.upstream({2, 24, 5, 5}, "c");
  const NodeId inner = builder.add("inner", graph::Concat{}, {a, b});
  const NodeId outer = builder.add("op", graph::Concat{}, {inner, c});
  return std::move(builder).finish(builder.add("norm", graph::BatchNorm{.relu = true}, {outer}));
}

Case linear_case(const std::string& name, const graph::Linear& op, const Shape& image) {
  CaseBuilder builder(name);
  const NodeId rows = builder.add("rows0", graph::Flatten{}, {builder.upstream(image)});
  return std::move(builder).finish(builder.add("op", op, {rows}));
}
}  // namespace

std::vector<Case> cases_of(const graph::Relu&) {
  return {
      single_op_case("relu.image", graph::Relu{}, {2, 16, 6, 6}),
      single_op_case("relu.channels_3", graph::Relu{}, {3, 3, 5, 5}),
      single_op_case("relu.channels_20", graph::Relu{}, {1, 20, 5, 7}),
      on_rows("relu.rows", graph::Relu{}, 13),
  };
}

std::vector<Case> cases_of(const graph::Sigmoid&) {
  return {
      single_op_case("sigmoid.image", graph::Sigmoid{}, {2, 16, 6, 6}),
      single_op_case("sigmoid.channels_3", graph::Sigmoid{}, {3, 3, 5, 5}),
      single_op_case("sigmoid.channels_20", graph::Sigmoid{}, {2, 20, 5, 7}),
      on_rows("sigmoid.rows", graph::Sigmoid{}, 13),
      read_by_convolution("sigmoid.read_by_convolution", graph::Sigmoid{}, {2, 20, 5, 7}),
  };
}

std::vector<Case> cases_of(const graph::Silu&) {
  return {
      single_op_case("silu.image", graph::Silu{}, {2, 16, 6, 6}),
      single_op_case("silu.channels_3", graph::Silu{}, {3, 3, 5, 5}),
      single_op_case("silu.channels_20", graph::Silu{}, {1, 20, 5, 7}),
      on_rows("silu.rows", graph::Silu{}, 13),
  };
}

std::vector<Case> cases_of(const graph::Linear&) {
  using graph::Linear;
  return {
      linear_case("linear.features_16_to_32", Linear{.out_features = 32}, {2, 16, 1, 1}),
      linear_case("linear.features_60_to_7", Linear{.out_features = 7}, {3, 20, 1, 3}),
      linear_case("linear.no_bias", Linear{.out_features = 14, .bias = false}, {2, 16, 2, 2}),
      linear_case("linear.one_to_one", Linear{.out_features = 1}, {3, 1, 1, 1}),
      linear_case("linear.batch_1", Linear{.out_features = 5}, {1, 24, 1, 1}),
      linear_case("linear.many_terms", Linear{.out_features = 16}, {2, 64, 6, 6}),
  };
}

std::vector<Case> cases_of(const graph::Add&) {
  return {
      add_case("add.image", {2, 16, 6, 6}),
      add_case("add.channels_3", {3, 3, 5, 5}),
      add_case("add.channels_20", {1, 20, 5, 7}),
      add_of_one_value(),
      add_of_rows(),
  };
}

std::vector<Case> cases_of(const graph::Concat&) {
  return {
      concat_of("concat.channels_16_32", {16, 32}),
      concat_of("concat.channels_3_20_24", {3, 20, 24}),
      concat_of("concat.single", {16}),
      concat_of("concat.many", {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}),
      concat_of_one_value_twice(),
      concat_with_image(),
      concat_of_concats(),
  };
}

std::vector<Case> cases_of(const graph::Dropout&) {
  return {
      dropout_case("dropout.nothing", 0.0, {2, 16, 5, 5}),
      dropout_case("dropout.half", 0.5, {2, 16, 6, 6}),
      dropout_case("dropout.fifth_of_20_channels", 0.2, {3, 20, 5, 5}),
      dropout_on_rows(),
  };
}

std::vector<Case> cases_of(const graph::Flatten&) {
  return {
      single_op_case("flatten.image", graph::Flatten{}, {2, 16, 3, 4}),
      single_op_case("flatten.channels_3", graph::Flatten{}, {3, 3, 4, 4}),
      single_op_case("flatten.channels_20", graph::Flatten{}, {1, 20, 3, 5}),
      single_op_case("flatten.one_pixel", graph::Flatten{}, {2, 24, 1, 1}),
      on_rows("flatten.rows", graph::Flatten{}, 5),
  };
}

}  // namespace roentgen::engine::conformance
