// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of 2-D convolution to a plan; the forward is in conv2d_forward.cpp. They use oneDNN's direct
// kernels in the layouts that oneDNN chooses. Where measurements show that our own kernels are faster, these are used
// in the same layouts (own_conv.h).
#include "graph/ops/conv2d.h"

#include "core/error.h"
#include "engine/cpu/conv/conv2d_input.h"
#include "engine/cpu/conv/direct/direct_conv.h"
#include "engine/cpu/conv/folding.h"
#include "engine/cpu/conv/own_conv.h"
#include "engine/cpu/plan/primitive_internal.h"

namespace roentgen::engine::cpu {
namespace {
using Fwd = dnnl::convolution_forward;
using BwdData = dnnl::convolution_backward_data;
using BwdWeights = dnnl::convolution_backward_weights;
using Geometry = ConvGeometry;

// Emits an entry that copies weights, or their gradient, to another layout.
void emit_weights_reorder(Lowering& lowering, const graph::Node& node, const std::string& what, const Argument& from,
                          const Argument& to) {
  const dnnl::reorder::primitive_desc pd(library_engine(), from.desc, library_engine(), to.desc);
  emit_primitive<dnnl::reorder>(lowering, node, {.what = what, .kind = "reorder_weights", .pass = Pass::Auxiliary}, pd,
                                {{from}, {to}});
}

void emit_own(Lowering& lowering, const graph::Node& node, ConvAlgorithm algorithm, ConvPass pass, const Geometry& g,
              Emission emission, const ConvTensors& tensors) {
  auto kernel = own_entry(lowering, algorithm, pass, g, emission, tensors);
  lowering.emit(node, std::move(emission), std::move(kernel));
}

void lower_backward_data(const Geometry& g, const Fwd::primitive_desc& forward, const Located& diff_dst,
                         graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const ConvAlgorithm algorithm = lowering.algorithm(id, ConvPass::BackwardData);
  const bool is_ours = algorithm != ConvAlgorithm::Direct;
  const DType dtype = dtype_of(algorithm);
  const BwdData::primitive_desc pd = conv_backward_data(g);
  const Located incoming =
      lowering.reordered(node, diff_dst, layout_of(is_ours ? forward.dst_desc() : pd.diff_dst_desc(), g.dst).as(dtype));
  TensorId weights = lowering.parameter(node, "weight");
  if (!is_ours && pd.weights_desc() != forward.weights_desc()) {
    const TensorId copy = lowering.scratch(node.name + ".weight/backward", pd.weights_desc().get_size());
    emit_weights_reorder(lowering, node, "weights_for_backward", {DNNL_ARG_FROM, weights, forward.weights_desc()},
                         {DNNL_ARG_TO, copy, pd.weights_desc()});
    weights = copy;
  }
  Emission emission{.what = "backward_data",
                    .kind = "conv2d_backward_data",
                    .pass = Pass::BackwardData,
                    .flops = 2 * node.multiply_adds};
  ConvTensors tensors{.weights = weights, .dst = incoming.tensor};
  if (is_ours) emission.reads = {weights, incoming.tensor};
  if (lowering.role(node.inputs[0]).gradient_by == id) {
    tensors.epilogue.norm_gradient = fuse_norm_backward(node.inputs[0], lowering, emission);
    return emit_own(lowering, node, algorithm, ConvPass::BackwardData, g, std::move(emission), tensors);
  }
  const Layout layout = layout_of(is_ours ? forward.src_desc() : pd.diff_src_desc(), g.src).as(dtype);
  const Located diff_src = lowering.gradient_tensor(node.inputs[0], layout);
  if (is_ours) {
    emission.writes = {diff_src.tensor};
    tensors.src = diff_src.tensor;
    emit_own(lowering, node, algorithm, ConvPass::BackwardData, g, std::move(emission), tensors);
  } else {
    emit_primitive<BwdData>(
        lowering, node, std::move(emission), pd,
        {{{DNNL_ARG_WEIGHTS, weights, pd.weights_desc()}, {DNNL_ARG_DIFF_DST, incoming.tensor, pd.diff_dst_desc()}},
         {{DNNL_ARG_DIFF_SRC, diff_src.tensor, pd.diff_src_desc()}}});
  }
  lowering.contribute(node.inputs[0], diff_src);
}

void lower_backward_weights(const Geometry& g, const Fwd::primitive_desc& forward, const Located& diff_dst,
                            graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const ConvAlgorithm algorithm = lowering.algorithm(id, ConvPass::BackwardWeights);
  if (algorithm != ConvAlgorithm::Direct) {
    const DType dtype = dtype_of(algorithm);
    const ConvSource source = conv_source(node.inputs[0], layout_of(forward.src_desc(), g.src).as(dtype), lowering);
    const Located incoming = lowering.reordered(node, diff_dst, layout_of(forward.dst_desc(), g.dst).as(dtype));
    ConvTensors tensors{.src = source.src,
                        .weights = lowering.parameter_gradient(node, "weight"),
                        .dst = incoming.tensor,
                        .prologue = source.prologue};
    Emission emission{.what = "backward_weights",
                      .kind = "conv2d_backward_weights",
                      .pass = Pass::BackwardWeights,
                      .reads = source.reads,
                      .writes = {tensors.weights},
                      .flops = 2 * node.multiply_adds};
    emission.reads.push_back(incoming.tensor);
    if (!g.bias.empty()) {
      tensors.bias = lowering.parameter_gradient(node, "bias");
      emission.writes.push_back(tensors.bias);
    }
    return emit_own(lowering, node, algorithm, ConvPass::BackwardWeights, g, std::move(emission), tensors);
  }
  const BwdWeights::primitive_desc pd = conv_backward_weights(g);
  const Located src = lowering.value_in(node.inputs[0], layout_of(pd.src_desc(), g.src));
  const Located incoming = lowering.reordered(node, diff_dst, layout_of(pd.diff_dst_desc(), g.dst));
  const TensorId gradient = lowering.parameter_gradient(node, "weight");
  const bool is_direct = pd.diff_weights_desc() == forward.weights_desc();
  const TensorId written =
      is_direct ? gradient : lowering.scratch("d:" + node.name + ".weight/plain", pd.diff_weights_desc().get_size());
  PrimitiveArguments arguments{
      {{DNNL_ARG_SRC, src.tensor, pd.src_desc()}, {DNNL_ARG_DIFF_DST, incoming.tensor, pd.diff_dst_desc()}},
      {{DNNL_ARG_DIFF_WEIGHTS, written, pd.diff_weights_desc()}}};
  if (!g.bias.empty()) {
    const TensorId bias = lowering.parameter_gradient(node, "bias");
    arguments.writes.push_back({DNNL_ARG_DIFF_BIAS, bias, plain_descriptor(g.bias)});
  }
  emit_primitive<BwdWeights>(lowering, node,
                             {.what = "backward_weights",
                              .kind = "conv2d_backward_weights",
                              .pass = Pass::BackwardWeights,
                              .flops = 2 * node.multiply_adds},
                             pd, arguments);
  if (!is_direct) {
    emit_weights_reorder(lowering, node, "gradient_to_arena", {DNNL_ARG_FROM, written, pd.diff_weights_desc()},
                         {DNNL_ARG_TO, gradient, forward.weights_desc()});
  }
}
}  // namespace

void lower(const graph::Conv2d& op, graph::NodeId id, Lowering& lowering) {
  if (lowering.folded_into(id) < 0) lower_with(op, id, {.result = id}, lowering);
}

void lower_backward(const graph::Conv2d& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Geometry g = conv_geometry(op, node, lowering.node(node.inputs[0]).shape);
  const Fwd::primitive_desc forward = conv_forward(g);
  const Located diff_dst =
      lowering.gradient(id, layout_of(forward.dst_desc(), g.dst).as(lowering.value(id).layout.dtype));
  if (lowering.needs_gradient(node.inputs[0])) {
    lower_backward_data(g, forward, diff_dst, id, lowering);
  }
  lowering.when_available(node.inputs[0], [g, forward, diff_dst, id, &lowering] {
    lower_backward_weights(g, forward, diff_dst, id, lowering);
  });
}

}  // namespace roentgen::engine::cpu
