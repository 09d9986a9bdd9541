// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/conv2d.h"

#include "graph/ops/window.h"

namespace roentgen::graph {

void Conv2d::visit(AttributeVisitor& visitor) {
  visitor.integer("out", out_channels, 0);
  visitor.extent("kernel", kernel, {1, 1});
  visitor.extent("stride", stride, {1, 1});
  visitor.extent("pad", pad, {0, 0});
  visitor.extent("dilation", dilation, {1, 1});
  visitor.integer("groups", groups, 1);
  visitor.flag("bias", bias, true);
  visitor.init("init", weight_init, Init{Init::Kind::UniformFanIn});
  visitor.init("bias_init", bias_init, Init{Init::Kind::UniformFanIn});
}

Inferred Conv2d::infer(std::string_view node, std::span<const Shape> inputs) const {
  const Shape& src = inputs[0];
  require_rank("conv2d", node, src, 4);
  const std::int64_t IC = src[1];
  if (out_channels < 1 || groups < 1 || IC % groups != 0 || out_channels % groups != 0) {
    throw ShapeError(error_text("graph.conv2d", node, "input and output channels that are multiples of groups",
                                std::to_string(IC) + " input channels, " + std::to_string(out_channels) +
                                    " output channels and " + std::to_string(groups) + " groups"));
  }
  const Window window{.kernel = kernel, .stride = stride, .pad = pad, .dilation = dilation};
  const Extent out = window_output("conv2d", node, src, window);
  Inferred inferred;
  inferred.output = Shape{src[0], out_channels, out.height, out.width};
  const Shape weight{out_channels, IC / groups, kernel.height, kernel.width};
  inferred.parameters.push_back({"weight", weight, Role::Weight, weight_init});
  if (bias) {
    Init init = bias_init;
    if (init.kind == Init::Kind::UniformFanIn) init.fan_in = weight[1] * weight[2] * weight[3];
    inferred.parameters.push_back({"bias", {out_channels}, Role::Bias, init});
  }
  inferred.multiply_adds = inferred.output.elements() * weight[1] * weight[2] * weight[3];
  return inferred;
}

}  // namespace roentgen::graph
