// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/conformance/cases.h"

namespace roentgen::engine::conformance {
namespace {
/// Case of a batch norm whose second input, the residual, is another convolution of the image.
Case with_residual(const std::string& name, const graph::BatchNorm& op, const Shape& shape) {
  CaseBuilder builder(name);
  const graph::NodeId src = builder.upstream(shape, "up");
  const graph::NodeId residual = builder.upstream(shape, "residual");
  return std::move(builder).finish(builder.add("op", op, {src, residual}));
}

/// Case of values with a mean ten times their spread: a one-pass variance in float would lose digits.
Case large_mean() {
  CaseBuilder builder("batch_norm.large_mean");
  const graph::NodeId up = builder.upstream({2, 16, 6, 6});
  const graph::NodeId first = builder.add("first", graph::BatchNorm{}, {up});
  builder.value("first.weight", std::vector<float>(16, 1.0F));
  builder.value("first.bias", std::vector<float>(16, 10.0F));
  builder.zero_gradient("first.bias");
  builder.zero_gradient("first.weight");
  return std::move(builder).finish(builder.add("op", graph::BatchNorm{.relu = true}, {first}));
}

/// Case of a convolution with bias before a batch norm. The bias has no effect, and therefore no gradient.
Case behind_bias() {
  CaseBuilder builder("batch_norm.behind_bias");
  const graph::NodeId up = builder.upstream({2, 16, 6, 6});
  const graph::NodeId conv =
      builder.add("conv", graph::Conv2d{.out_channels = 16, .kernel = {3, 3}, .pad = {1, 1}}, {up});
  builder.zero_gradient("conv.bias");
  return std::move(builder).finish(builder.add("op", graph::BatchNorm{}, {conv}));
}

/// Case of a batch norm that reads the image itself: its data gradient is not needed.
Case of_image() {
  CaseBuilder builder("batch_norm.of_the_image");
  const graph::NodeId image = builder.image({3, 3, 7, 5});
  return std::move(builder).finish(builder.add("op", graph::BatchNorm{.relu = true}, {image}));
}
}  // namespace

std::vector<Case> cases_of(const graph::BatchNorm&) {
  using graph::BatchNorm;
  return {
      single_op_case("batch_norm.plain", BatchNorm{}, {2, 16, 6, 6}),
      single_op_case("batch_norm.relu", BatchNorm{.relu = true}, {2, 16, 6, 6}),
      with_residual("batch_norm.residual", BatchNorm{}, {2, 16, 6, 6}),
      with_residual("batch_norm.residual_relu", BatchNorm{.relu = true}, {2, 16, 6, 6}),
      single_op_case("batch_norm.channels_3", BatchNorm{.relu = true}, {3, 3, 5, 7}),
      single_op_case("batch_norm.channels_20", BatchNorm{}, {2, 20, 5, 5}),
      single_op_case("batch_norm.channels_24", BatchNorm{.relu = true}, {2, 24, 5, 5}),
      with_residual("batch_norm.channels_24_residual_relu", BatchNorm{.relu = true}, {3, 24, 5, 3}),
      with_residual("batch_norm.channels_40_residual", BatchNorm{}, {1, 40, 4, 4}),
      single_op_case("batch_norm.batch_1", BatchNorm{.relu = true}, {1, 32, 7, 7}),
      single_op_case("batch_norm.one_pixel", BatchNorm{.relu = true}, {6, 16, 1, 1}),
      single_op_case("batch_norm.many_pixels", BatchNorm{.relu = true}, {2, 16, 33, 31}),
      single_op_case("batch_norm.momentum_1_large_epsilon", BatchNorm{.epsilon = 0.1, .momentum = 1.0}, {2, 16, 5, 5}),
      single_op_case("batch_norm.momentum_0", BatchNorm{.momentum = 0.0}, {2, 16, 5, 5}),
      large_mean(),
      behind_bias(),
      of_image(),
  };
}

}  // namespace roentgen::engine::conformance
