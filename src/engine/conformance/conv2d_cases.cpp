// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/conformance/cases.h"

namespace roentgen::engine::conformance {
namespace {
/// Case of a convolution that reads the image itself, as a first layer does: its data gradient is not needed.
Case first_layer(const std::string& name, const graph::Conv2d& op, const Shape& image) {
  CaseBuilder builder(name);
  const graph::NodeId src = builder.image(image);
  return std::move(builder).finish(builder.add("op", op, {src}));
}
}  // namespace

std::vector<Case> cases_of(const graph::Conv2d&) {
  using graph::Conv2d;
  return {
      single_op_case("conv2d.kernel_1x1", Conv2d{.out_channels = 32}, {2, 16, 6, 6}),
      single_op_case("conv2d.kernel_3x3", Conv2d{.out_channels = 16, .kernel = {3, 3}, .pad = {1, 1}}, {2, 32, 8, 8}),
      single_op_case("conv2d.kernel_5x5", Conv2d{.out_channels = 16, .kernel = {5, 5}, .pad = {2, 2}}, {2, 16, 7, 9}),
      single_op_case("conv2d.kernel_7x7", Conv2d{.out_channels = 16, .kernel = {7, 7}, .pad = {3, 3}}, {1, 16, 9, 9}),
      single_op_case("conv2d.kernel_3x1", Conv2d{.out_channels = 16, .kernel = {3, 1}, .pad = {1, 0}}, {2, 16, 6, 5}),
      single_op_case("conv2d.kernel_1x3", Conv2d{.out_channels = 32, .kernel = {1, 3}, .pad = {0, 1}}, {2, 16, 5, 6}),
      single_op_case("conv2d.kernel_1x7", Conv2d{.out_channels = 16, .kernel = {1, 7}, .pad = {0, 3}}, {2, 32, 5, 17}),
      single_op_case("conv2d.kernel_7x1", Conv2d{.out_channels = 32, .kernel = {7, 1}, .pad = {3, 0}}, {2, 16, 9, 6}),
      single_op_case("conv2d.kernel_1x5", Conv2d{.out_channels = 16, .kernel = {1, 5}, .pad = {0, 2}}, {2, 16, 6, 8}),
      single_op_case("conv2d.kernel_as_large_as_the_image", Conv2d{.out_channels = 16, .kernel = {4, 4}},
                     {3, 16, 4, 4}),
      single_op_case("conv2d.no_bias", Conv2d{.out_channels = 16, .kernel = {3, 3}, .pad = {1, 1}, .bias = false},
                     {2, 16, 5, 5}),
      single_op_case("conv2d.no_pad", Conv2d{.out_channels = 16, .kernel = {3, 3}}, {2, 16, 6, 6}),
      single_op_case("conv2d.pad_one_axis", Conv2d{.out_channels = 16, .kernel = {3, 3}, .pad = {1, 0}}, {2, 16, 6, 6}),
      single_op_case("conv2d.stride_2", Conv2d{.out_channels = 32, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}},
                     {2, 16, 8, 8}),
      single_op_case("conv2d.stride_2_odd_size",
                     Conv2d{.out_channels = 32, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}}, {2, 16, 9, 11}),
      single_op_case("conv2d.stride_2_no_pad", Conv2d{.out_channels = 32, .kernel = {3, 3}, .stride = {2, 2}},
                     {2, 16, 8, 10}),
      single_op_case("conv2d.stride_2_pad_one_axis",
                     Conv2d{.out_channels = 16, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 0}}, {2, 32, 9, 8}),
      single_op_case("conv2d.stride_2_kernel_1x1", Conv2d{.out_channels = 32, .stride = {2, 2}}, {2, 16, 7, 8}),
      single_op_case("conv2d.stride_2_last_column_unread",
                     Conv2d{.out_channels = 16, .kernel = {2, 2}, .stride = {2, 2}}, {2, 16, 7, 5}),
      single_op_case("conv2d.dilation_2",
                     Conv2d{.out_channels = 16, .kernel = {3, 3}, .pad = {2, 2}, .dilation = {2, 2}}, {2, 16, 8, 7}),
      single_op_case("conv2d.channels_24_to_20", Conv2d{.out_channels = 20, .kernel = {3, 3}, .pad = {1, 1}},
                     {2, 24, 6, 6}),
      single_op_case("conv2d.channels_20_to_3", Conv2d{.out_channels = 3, .kernel = {3, 3}, .pad = {1, 1}},
                     {2, 20, 6, 6}),
      single_op_case("conv2d.channels_3_to_20", Conv2d{.out_channels = 20, .kernel = {3, 3}, .pad = {1, 1}},
                     {2, 3, 6, 6}),
      single_op_case("conv2d.channels_1_to_1", Conv2d{.out_channels = 1, .kernel = {3, 3}, .pad = {1, 1}},
                     {2, 1, 6, 6}),
      single_op_case("conv2d.channels_24_kernel_1x1", Conv2d{.out_channels = 24}, {3, 20, 5, 7}),
      single_op_case("conv2d.many_terms", Conv2d{.out_channels = 16, .kernel = {3, 3}, .pad = {1, 1}}, {2, 128, 5, 5}),
      single_op_case("conv2d.batch_1", Conv2d{.out_channels = 16, .kernel = {3, 3}, .pad = {1, 1}}, {1, 16, 7, 7}),
      single_op_case("conv2d.batch_3_one_pixel", Conv2d{.out_channels = 32}, {3, 16, 1, 1}),
      single_op_case("conv2d.groups_2", Conv2d{.out_channels = 64, .kernel = {3, 3}, .pad = {1, 1}, .groups = 2},
                     {2, 32, 5, 5}),
      single_op_case("conv2d.groups_of_8", Conv2d{.out_channels = 32, .kernel = {3, 3}, .pad = {1, 1}, .groups = 4},
                     {2, 32, 6, 6}),
      single_op_case("conv2d.groups_of_4", Conv2d{.out_channels = 32, .kernel = {3, 3}, .pad = {1, 1}, .groups = 8},
                     {2, 32, 6, 6}),
      single_op_case("conv2d.groups_of_4_stride_2",
                     Conv2d{.out_channels = 32, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}, .groups = 8},
                     {2, 32, 7, 7}),
      single_op_case("conv2d.groups_with_odd_channels",
                     Conv2d{.out_channels = 10, .kernel = {3, 3}, .pad = {1, 1}, .groups = 2}, {2, 6, 5, 5}),
      single_op_case("conv2d.depthwise", Conv2d{.out_channels = 32, .kernel = {3, 3}, .pad = {1, 1}, .groups = 32},
                     {2, 32, 6, 6}),
      single_op_case("conv2d.depthwise_24_stride_2",
                     Conv2d{.out_channels = 24, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}, .groups = 24},
                     {2, 24, 7, 7}),
      first_layer("conv2d.first_layer_rgb",
                  Conv2d{.out_channels = 64, .kernel = {7, 7}, .stride = {2, 2}, .pad = {3, 3}, .bias = false},
                  {2, 3, 15, 16}),
      first_layer("conv2d.first_layer_gray",
                  Conv2d{.out_channels = 64, .kernel = {7, 7}, .stride = {2, 2}, .pad = {3, 3}, .bias = false},
                  {2, 1, 16, 15}),
      first_layer("conv2d.first_layer_3x3", Conv2d{.out_channels = 24, .kernel = {3, 3}, .pad = {1, 1}}, {3, 3, 7, 7}),
  };
}

}  // namespace roentgen::engine::conformance
