// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "core/random.h"
#include "engine/conformance/cases.h"

namespace roentgen::engine::conformance {
namespace {
/// Case of windows with several equal maxima. Values are sums of three small integers, exact in float. Equal maxima
/// come from different images, so the weight gradient shows which one was used.
Case ties() {
  CaseBuilder builder("max_pool.ties");
  const graph::NodeId image = builder.image({2, 3, 8, 8});
  Random random(3, RandomStage::Test);
  std::vector<float> pixels(static_cast<std::size_t>(builder.shape(image).elements()));
  for (float& pixel : pixels) pixel = static_cast<float>(random.below(3));
  builder.value("image", std::move(pixels));
  const graph::NodeId up = builder.upstream({2, 16, 8, 8});
  builder.value("up.weight", std::vector<float>(48, 1.0F));
  return std::move(builder).finish(
      builder.add("op", graph::MaxPool{.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}}, {up}));
}

/// Case of negative values only: padding must not count as 0.
Case negative_values() {
  CaseBuilder builder("max_pool.negative_values");
  const graph::NodeId image = builder.image({2, 3, 6, 6});
  Random random(4, RandomStage::Test);
  std::vector<float> pixels(static_cast<std::size_t>(builder.shape(image).elements()));
  for (float& pixel : pixels) pixel = static_cast<float>(random.uniform(0.5, 1.0));
  builder.value("image", std::move(pixels));
  const graph::NodeId up = builder.upstream({2, 16, 6, 6});
  std::vector<float> weights(48);
  for (float& weight : weights) weight = static_cast<float>(random.uniform(-1.0, -0.5));
  builder.value("up.weight", std::move(weights));
  return std::move(builder).finish(
      builder.add("op", graph::MaxPool{.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}}, {up}));
}
}  // namespace

std::vector<Case> cases_of(const graph::MaxPool&) {
  using graph::MaxPool;
  const MaxPool stem{.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}};
  return {
      single_op_case("max_pool.kernel_2x2", MaxPool{}, {2, 16, 6, 8}),
      single_op_case("max_pool.stem", stem, {2, 16, 8, 8}),
      single_op_case("max_pool.stem_odd_size", stem, {2, 16, 9, 7}),
      single_op_case("max_pool.overlapping", MaxPool{.kernel = {3, 3}, .stride = {1, 1}, .pad = {1, 1}}, {2, 16, 6, 6}),
      single_op_case("max_pool.one_axis", MaxPool{.kernel = {1, 3}, .stride = {1, 2}, .pad = {0, 1}}, {2, 16, 5, 7}),
      single_op_case("max_pool.ceil", MaxPool{.is_ceil = true}, {2, 16, 7, 5}),
      single_op_case("max_pool.ceil_3x3", MaxPool{.kernel = {3, 3}, .stride = {2, 2}, .is_ceil = true}, {2, 16, 8, 6}),
      single_op_case("max_pool.pixels_no_window_reads", MaxPool{.kernel = {1, 1}, .stride = {2, 2}}, {2, 16, 6, 5}),
      single_op_case("max_pool.kernel_17x16", MaxPool{.kernel = {17, 16}, .stride = {1, 1}}, {1, 16, 18, 17}),
      single_op_case("max_pool.channels_3", stem, {3, 3, 8, 8}),
      single_op_case("max_pool.channels_20", stem, {1, 20, 8, 8}),
      single_op_case("max_pool.channels_24", MaxPool{}, {2, 24, 6, 6}),
      ties(),
      negative_values(),
  };
}

std::vector<Case> cases_of(const graph::AvgPool&) {
  using graph::AvgPool;
  return {
      single_op_case("avg_pool.kernel_2x2", AvgPool{}, {2, 16, 6, 8}),
      single_op_case("avg_pool.odd_size", AvgPool{}, {2, 16, 7, 5}),
      single_op_case("avg_pool.overlapping", AvgPool{.kernel = {3, 3}, .stride = {1, 1}, .pad = {1, 1}}, {2, 16, 6, 6}),
      single_op_case("avg_pool.pad_not_counted",
                     AvgPool{.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}, .count_pad = false}, {2, 16, 7, 6}),
      single_op_case("avg_pool.one_axis", AvgPool{.kernel = {3, 1}, .stride = {2, 1}, .pad = {1, 0}}, {2, 16, 6, 5}),
      single_op_case("avg_pool.channels_3", AvgPool{}, {3, 3, 6, 6}),
      single_op_case("avg_pool.channels_20", AvgPool{}, {1, 20, 6, 6}),
      single_op_case("avg_pool.channels_24", AvgPool{.kernel = {3, 3}, .stride = {3, 3}}, {2, 24, 6, 6}),
  };
}

std::vector<Case> cases_of(const graph::GlobalAvgPool&) {
  using graph::GlobalAvgPool;
  return {
      single_op_case("global_avg_pool.square", GlobalAvgPool{}, {2, 16, 7, 7}),
      single_op_case("global_avg_pool.one_pixel", GlobalAvgPool{}, {2, 16, 1, 1}),
      single_op_case("global_avg_pool.channels_3", GlobalAvgPool{}, {3, 3, 5, 6}),
      single_op_case("global_avg_pool.channels_20", GlobalAvgPool{}, {1, 20, 4, 3}),
      single_op_case("global_avg_pool.channels_24_many_pixels", GlobalAvgPool{}, {2, 24, 31, 17}),
  };
}

std::vector<Case> cases_of(const graph::AdaptiveAvgPool&) {
  using graph::AdaptiveAvgPool;
  const AdaptiveAvgPool vgg{.out = {7, 7}};
  return {
      single_op_case("adaptive_avg_pool.same_size", vgg, {2, 16, 7, 7}),
      single_op_case("adaptive_avg_pool.regions_that_divide", vgg, {2, 16, 14, 21}),
      single_op_case("adaptive_avg_pool.regions_that_overlap", AdaptiveAvgPool{.out = {4, 4}}, {2, 16, 14, 9}),
      single_op_case("adaptive_avg_pool.fewer_pixels_than_regions", vgg, {2, 16, 1, 3}),
      single_op_case("adaptive_avg_pool.one_region", AdaptiveAvgPool{}, {2, 16, 5, 6}),
      single_op_case("adaptive_avg_pool.channels_3", AdaptiveAvgPool{.out = {2, 3}}, {3, 3, 5, 6}),
      single_op_case("adaptive_avg_pool.channels_20", AdaptiveAvgPool{.out = {3, 2}}, {1, 20, 7, 5}),
      single_op_case("adaptive_avg_pool.channels_24", AdaptiveAvgPool{.out = {4, 4}}, {2, 24, 6, 6}),
  };
}

}  // namespace roentgen::engine::conformance
