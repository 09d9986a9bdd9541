// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of fully connected layers to a plan. They use oneDNN's inner product.
#include "graph/ops/linear.h"

#include "engine/cpu/conv/folding.h"
#include "engine/cpu/plan/primitive_internal.h"

namespace roentgen::engine::cpu {
namespace {
using Fwd = dnnl::inner_product_forward;
using BwdData = dnnl::inner_product_backward_data;
using BwdWeights = dnnl::inner_product_backward_weights;

struct Sizes {
  dnnl::memory::dims src;
  dnnl::memory::dims weights;
  dnnl::memory::dims bias;
  dnnl::memory::dims dst;
};

Sizes sizes_of(const graph::Linear& op, const Shape& src) {
  Sizes sizes{{src[0], src[1]}, {op.out_features, src[1]}, {}, {src[0], op.out_features}};
  if (op.bias) sizes.bias = {op.out_features};
  return sizes;
}

dnnl::primitive_attr attributes_of(const Folding& folding) {
  dnnl::primitive_attr attributes = user_scratchpad();
  dnnl::post_ops after;
  if (folding.relu) after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  attributes.set_post_ops(after);
  return attributes;
}

Fwd::primitive_desc forward_descriptor(const Sizes& s, bool is_training, const dnnl::primitive_attr& attributes) {
  const auto kind = is_training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const dnnl::memory::desc src = plain_descriptor(s.src);
  const dnnl::memory::desc dst = plain_descriptor(s.dst);
  const dnnl::memory::desc weights = any_descriptor(s.weights);
  if (s.bias.empty()) return {{kind, src, weights, dst}, attributes, library_engine()};
  return {{kind, src, weights, plain_descriptor(s.bias), dst}, attributes, library_engine()};
}

BwdWeights::primitive_desc weights_descriptor(const Sizes& s, const Fwd::primitive_desc& forward) {
  const dnnl::memory::desc src = plain_descriptor(s.src);
  const dnnl::memory::desc dst = plain_descriptor(s.dst);
  if (s.bias.empty()) return {{src, forward.weights_desc(), dst}, user_scratchpad(), library_engine(), forward};
  return {{src, forward.weights_desc(), plain_descriptor(s.bias), dst}, user_scratchpad(), library_engine(), forward};
}
}  // namespace

void lower(const graph::Linear& op, graph::NodeId id, Lowering& lowering) {
  if (lowering.folded_into(id) < 0) lower_with(op, id, {.result = id}, lowering);
}

bool lower_with(const graph::Linear& op, graph::NodeId id, const Folding& folding, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located src = lowering.value_f32(node.inputs[0]);
  const Sizes sizes = sizes_of(op, src.shape);
  const Fwd::primitive_desc pd = forward_descriptor(sizes, lowering.is_training(), attributes_of(folding));
  if (folding.relu && is_reference(pd.impl_info_str())) return false;
  lowering.parameter_layout(node, "weight") = weights_layout(plain_descriptor(sizes.weights), pd.weights_desc(),
                                                             "linear" + std::to_string(pd.weights_desc().get_size()));
  const Located dst = lowering.define(folding.result, Layout{});
  PrimitiveArguments arguments{{{DNNL_ARG_SRC, src.tensor, pd.src_desc()},
                                {DNNL_ARG_WEIGHTS, lowering.parameter(node, "weight"), pd.weights_desc()}},
                               {{DNNL_ARG_DST, dst.tensor, pd.dst_desc()}}};
  if (op.bias) {
    arguments.reads.push_back({DNNL_ARG_BIAS, lowering.parameter(node, "bias"), plain_descriptor(sizes.bias)});
  }
  emit_primitive<Fwd>(lowering, node,
                      {.what = "forward",
                       .kind = "linear_forward",
                       .implementation = std::string(pd.impl_info_str()) + (folding.relu ? "+relu" : ""),
                       .flops = 2 * node.multiply_adds},
                      pd, arguments);
  return true;
}

namespace {
void lower_data(const Sizes& sizes, const Fwd::primitive_desc& forward, const Located& diff_dst, graph::NodeId id,
                Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const BwdData::primitive_desc pd({plain_descriptor(sizes.src), forward.weights_desc(), plain_descriptor(sizes.dst)},
                                   user_scratchpad(), library_engine(), forward);
  const Located diff_src = lowering.gradient_tensor(node.inputs[0], Layout{});
  emit_primitive<BwdData>(lowering, node,
                          {.what = "backward_data",
                           .kind = "linear_backward_data",
                           .pass = Pass::BackwardData,
                           .flops = 2 * node.multiply_adds},
                          pd,
                          {{{DNNL_ARG_DIFF_DST, diff_dst.tensor, pd.diff_dst_desc()},
                            {DNNL_ARG_WEIGHTS, lowering.parameter(node, "weight"), pd.weights_desc()}},
                           {{DNNL_ARG_DIFF_SRC, diff_src.tensor, pd.diff_src_desc()}}});
  lowering.contribute(node.inputs[0], diff_src);
}
}  // namespace

void lower_backward(const graph::Linear& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located src = lowering.value_f32(node.inputs[0]);
  const Sizes sizes = sizes_of(op, src.shape);
  const Fwd::primitive_desc forward = forward_descriptor(sizes, true, user_scratchpad());
  const Located diff_dst = lowering.gradient(id, Layout{});
  if (lowering.needs_gradient(node.inputs[0])) lower_data(sizes, forward, diff_dst, id, lowering);
  const BwdWeights::primitive_desc pd = weights_descriptor(sizes, forward);
  PrimitiveArguments arguments{
      {{DNNL_ARG_SRC, src.tensor, pd.src_desc()}, {DNNL_ARG_DIFF_DST, diff_dst.tensor, pd.diff_dst_desc()}},
      {{DNNL_ARG_DIFF_WEIGHTS, lowering.parameter_gradient(node, "weight"), pd.diff_weights_desc()}}};
  if (op.bias) {
    const TensorId bias = lowering.parameter_gradient(node, "bias");
    arguments.writes.push_back({DNNL_ARG_DIFF_BIAS, bias, plain_descriptor(sizes.bias)});
  }
  emit_primitive<BwdWeights>(lowering, node,
                             {.what = "backward_weights",
                              .kind = "linear_backward_weights",
                              .pass = Pass::BackwardWeights,
                              .flops = 2 * node.multiply_adds},
                             pd, arguments);
}

}  // namespace roentgen::engine::cpu
