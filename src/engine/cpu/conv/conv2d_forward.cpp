// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of 2-D convolution's forward pass, alone or with the nodes that inference folds into it.
#include <algorithm>

#include "engine/cpu/conv/conv2d_input.h"
#include "engine/cpu/conv/direct/direct_conv.h"
#include "engine/cpu/conv/fold_weights.h"
#include "engine/cpu/conv/folding.h"
#include "engine/cpu/conv/own_conv.h"
#include "engine/cpu/elementwise/elementwise.h"

namespace roentgen::engine::cpu {
namespace {
struct Weights {
  TensorId weight = -1;
  TensorId bias = -1;
};

// Returns copies of weights and bias that include the batch norm. A preparation recomputes them whenever parameters
// were loaded.
Weights folded_weights(const Weights& plain, const graph::Node& node, const Folding& folding, Lowering& lowering) {
  const graph::Node& norm = lowering.node(folding.result);
  const std::shared_ptr<const ParameterLayout> layout = lowering.parameter_layout(node, "weight");
  const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(float); };
  const std::int64_t channels = node.shape[1];
  const Weights folded{lowering.kept(node.name + ".weight/folded", bytes(layout->elements())),
                       lowering.kept(node.name + ".bias/folded", bytes(channels))};
  std::int64_t weight_count = 0;
  for (const std::int32_t parameter : node.parameters) {
    weight_count = std::max(weight_count, lowering.graph().parameter(parameter).shape.elements());
  }
  WeightFolding work{.weights = plain.weight,
                     .bias = plain.bias,
                     .scale = lowering.parameter(norm, "weight"),
                     .shift = lowering.parameter(norm, "bias"),
                     .mean = lowering.parameter(norm, "running_mean"),
                     .variance = lowering.parameter(norm, "running_var"),
                     .folded_weights = folded.weight,
                     .folded_bias = folded.bias,
                     .epsilon = folding.norm->epsilon,
                     .channels = channels,
                     .weights_per_channel = weight_count / channels,
                     .layout = layout};
  Emission emission{.what = "fold",
                    .kind = "fold_weights",
                    .pass = Pass::Auxiliary,
                    .reads = {work.weights, work.scale, work.shift, work.mean, work.variance},
                    .writes = {work.folded_weights, work.folded_bias},
                    .implementation = "plain"};
  if (work.bias >= 0) emission.reads.push_back(work.bias);
  lowering.emit_preparation(node, std::move(emission), fold_weights_kernel(std::move(work)));
  return folded;
}

std::string with_folding(std::string implementation, const Folding& folding) {
  if (folding.norm != nullptr) implementation += "+norm";
  if (folding.residual >= 0) implementation += "+add";
  if (folding.relu) implementation += "+relu";
  return implementation;
}

std::unique_ptr<Kernel> direct_kernel(const dnnl::convolution_forward::primitive_desc& pd, const ConvGeometry& g,
                                      TensorId src, const Weights& weights, const Located& dst, Lowering& lowering,
                                      Emission& emission) {
  std::vector<Argument> arguments{{DNNL_ARG_SRC, src, pd.src_desc()},
                                  {DNNL_ARG_WEIGHTS, weights.weight, pd.weights_desc()},
                                  {DNNL_ARG_DST, dst.tensor, pd.dst_desc()}};
  if (weights.bias >= 0) arguments.push_back({DNNL_ARG_BIAS, weights.bias, plain_descriptor(g.bias)});
  add_scratchpad(lowering, pd.scratchpad_desc(), emission, arguments);
  return primitive_kernel(dnnl::convolution_forward(pd), arguments);
}

}  // namespace

bool lower_with(const graph::Conv2d& op, graph::NodeId id, const Folding& folding, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const ConvGeometry alone = conv_geometry(op, node, lowering.node(node.inputs[0]).shape);
  ConvGeometry g = alone;
  if (folding.norm != nullptr) g.bias = {op.out_channels};
  Epilogue epilogue{.adds = folding.residual >= 0, .relu = folding.relu};
  const dnnl::convolution_forward::primitive_desc pd = conv_forward(g, epilogue);
  if (is_reference(pd.impl_info_str()) && !is_reference(conv_forward(alone).impl_info_str())) return false;

  const ConvAlgorithm algorithm = lowering.algorithm(id, ConvPass::Forward);
  const DType dtype = dtype_of(algorithm);
  const ConvSource source = conv_source(node.inputs[0], layout_of(pd.src_desc(), g.src).as(dtype), lowering);
  const Layout layout = layout_of(pd.dst_desc(), g.dst).as(dtype);
  lowering.parameter_layout(node, "weight") = weights_layout(plain_descriptor(g.weights), pd.weights_desc(),
                                                             "conv" + std::to_string(pd.weights_desc().get_size()));
  Weights weights{lowering.parameter(node, "weight"), op.bias ? lowering.parameter(node, "bias") : -1};
  if (folding.norm != nullptr) weights = folded_weights(weights, node, folding, lowering);
  const Located residual = epilogue.adds ? lowering.value_in(folding.residual, layout) : Located{};
  const Located dst = lowering.define(folding.result, layout);
  Emission emission{.what = "forward",
                    .kind = "conv2d_forward",
                    .reads = source.reads,
                    .writes = {dst.tensor},
                    .flops = 2 * node.multiply_adds};
  emission.reads.push_back(weights.weight);
  if (weights.bias >= 0) emission.reads.push_back(weights.bias);
  if (epilogue.adds) {
    emission.reads.push_back(residual.tensor);
    emission.in_place = {{residual.tensor, dst.tensor}};
  }
  std::unique_ptr<Kernel> kernel;
  if (algorithm != ConvAlgorithm::Direct) {
    ConvTensors tensors{.src = source.src,
                        .weights = weights.weight,
                        .bias = weights.bias,
                        .dst = dst.tensor,
                        .prologue = source.prologue};
    const std::vector<graph::NodeId>& readers = lowering.readers(id);
    if (!readers.empty() && lowering.role(readers[0]).moments_by == id) {
      epilogue.moments = moments_for_norm(dst, readers[0], lowering);
      emission.reads.push_back(epilogue.moments.pivot);
      emission.writes.push_back(epilogue.moments.partial);
    }
    tensors.epilogue = epilogue;
    kernel = own_entry(lowering, algorithm, ConvPass::Forward, g, emission, tensors);
  } else {
    emission.implementation = pd.impl_info_str();
    kernel = direct_kernel(pd, g, source.src, weights, dst, lowering, emission);
  }
  emission.implementation = with_folding(std::move(emission.implementation), folding);
  if (epilogue.adds) {
    kernel = after_copy_kernel(residual.tensor, dst.tensor, stored_elements(dst.shape, layout), std::move(kernel));
  }
  lowering.emit(node, std::move(emission), std::move(kernel));
  return true;
}

}  // namespace roentgen::engine::cpu
