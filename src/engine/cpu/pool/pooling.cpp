// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/pool/pooling.h"

#include "engine/cpu/plan/primitive_internal.h"

namespace roentgen::engine::cpu {
namespace {
using Fwd = dnnl::pooling_forward;
using Bwd = dnnl::pooling_backward;

struct Window {
  dnnl::algorithm algorithm;
  dnnl::memory::dims kernel;
  dnnl::memory::dims stride;
  dnnl::memory::dims low;
  dnnl::memory::dims high;
};

Window window_of(const PoolGeometry& g) {
  const auto high = [](std::int64_t out, std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
    return (out - 1) * stride + kernel - in - pad;
  };
  const auto algorithm = g.kind == PoolKind::Max              ? dnnl::algorithm::pooling_max
                         : g.kind == PoolKind::AverageWithPad ? dnnl::algorithm::pooling_avg_include_padding
                                                              : dnnl::algorithm::pooling_avg_exclude_padding;
  return {algorithm,
          {g.kernel.height, g.kernel.width},
          {g.stride.height, g.stride.width},
          {g.pad.height, g.pad.width},
          {high(g.dst[2], g.src.shape[2], g.kernel.height, g.stride.height, g.pad.height),
           high(g.dst[3], g.src.shape[3], g.kernel.width, g.stride.width, g.pad.width)}};
}

Fwd::primitive_desc forward_descriptor(const PoolGeometry& g, bool is_training) {
  const Window w = window_of(g);
  return {{is_training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference, w.algorithm,
           descriptor(g.src.shape, g.src.layout), descriptor(g.dst, g.src.layout), w.stride, w.kernel, w.low, w.high},
          user_scratchpad(),
          library_engine()};
}
}  // namespace

Located pool_source(graph::NodeId input, Lowering& lowering) {
  const Located& here = lowering.value(input);
  const bool is_known = here.layout.dtype == DType::F32 || here.layout.block == 16;
  return is_known ? here : lowering.value_f32(input);
}

void lower_pool(const PoolGeometry& g, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const bool keeps_workspace = lowering.is_training() && lowering.needs_gradient(id) && g.kind == PoolKind::Max;
  const Fwd::primitive_desc pd = forward_descriptor(g, keeps_workspace);
  const Located dst = lowering.define(id, g.src.layout);
  PrimitiveArguments arguments{{{DNNL_ARG_SRC, g.src.tensor, pd.src_desc()}},
                               {{DNNL_ARG_DST, dst.tensor, pd.dst_desc()}}};
  if (keeps_workspace && pd.workspace_desc().get_size() > 0) {
    const TensorId workspace = lowering.scratch(node.name + "/workspace", pd.workspace_desc().get_size());
    lowering.kept_by_forward(id) = workspace;
    arguments.writes.push_back({DNNL_ARG_WORKSPACE, workspace, pd.workspace_desc()});
  }
  emit_primitive<Fwd>(lowering, node, {.what = "forward", .kind = "pool_forward"}, pd, arguments);
}

void lower_pool_backward(const PoolGeometry& g, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Window w = window_of(g);
  const Fwd::primitive_desc forward = forward_descriptor(g, true);
  const Bwd::primitive_desc pd({w.algorithm, descriptor(g.src.shape, g.src.layout), descriptor(g.dst, g.src.layout),
                                w.stride, w.kernel, w.low, w.high},
                               user_scratchpad(), library_engine(), forward);
  const Located diff_dst = lowering.gradient(id, g.src.layout);
  const Located diff_src = lowering.gradient_tensor(node.inputs[0], g.src.layout);
  PrimitiveArguments arguments{{{DNNL_ARG_DIFF_DST, diff_dst.tensor, pd.diff_dst_desc()}},
                               {{DNNL_ARG_DIFF_SRC, diff_src.tensor, pd.diff_src_desc()}}};
  const TensorId workspace = lowering.kept_by_forward(id);
  if (workspace >= 0) arguments.reads.push_back({DNNL_ARG_WORKSPACE, workspace, pd.workspace_desc()});
  emit_primitive<Bwd>(lowering, node, {.what = "backward", .kind = "pool_backward", .pass = Pass::BackwardData}, pd,
                      arguments);
  lowering.contribute(node.inputs[0], diff_src);
}

}  // namespace roentgen::engine::cpu
