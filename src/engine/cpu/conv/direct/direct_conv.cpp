// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/conv/direct/direct_conv.h"

#include "engine/cpu/plan/primitive.h"

namespace roentgen::engine::cpu {
namespace {
using Fwd = dnnl::convolution_forward;
using BwdData = dnnl::convolution_backward_data;
using BwdWeights = dnnl::convolution_backward_weights;

struct Descriptors {
  dnnl::memory::desc src;
  dnnl::memory::desc weights;
  dnnl::memory::desc dst;
};

dnnl::primitive_attr forward_attributes(const Epilogue& epilogue) {
  dnnl::primitive_attr attributes = user_scratchpad();
  dnnl::post_ops after;
  if (epilogue.adds) after.append_sum();
  if (epilogue.relu) after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  attributes.set_post_ops(after);
  return attributes;
}

Fwd::primitive_desc make_forward(const ConvGeometry& g, const Epilogue& epilogue, const Descriptors& d) {
  const auto kind = dnnl::prop_kind::forward_training;
  const auto chosen = dnnl::algorithm::convolution_direct;
  if (g.bias.empty()) {
    return {{kind, chosen, d.src, d.weights, d.dst, g.stride, g.dilation, g.pad_low, g.pad_high},
            forward_attributes(epilogue),
            library_engine()};
  }
  return {
      {kind, chosen, d.src, d.weights, plain_descriptor(g.bias), d.dst, g.stride, g.dilation, g.pad_low, g.pad_high},
      forward_attributes(epilogue),
      library_engine()};
}

BwdData::primitive_desc make_backward_data(const ConvGeometry& g, const Fwd::primitive_desc& forward,
                                           const Descriptors& d) {
  return {{dnnl::algorithm::convolution_direct, d.src, d.weights, d.dst, g.stride, g.dilation, g.pad_low, g.pad_high},
          user_scratchpad(),
          library_engine(),
          forward};
}

BwdWeights::primitive_desc make_backward_weights(const ConvGeometry& g, const Fwd::primitive_desc& forward,
                                                 const Descriptors& d) {
  const auto chosen = dnnl::algorithm::convolution_direct;
  if (g.bias.empty()) {
    return {{chosen, d.src, d.weights, d.dst, g.stride, g.dilation, g.pad_low, g.pad_high},
            user_scratchpad(),
            library_engine(),
            forward};
  }
  return {{chosen, d.src, d.weights, plain_descriptor(g.bias), d.dst, g.stride, g.dilation, g.pad_low, g.pad_high},
          user_scratchpad(),
          library_engine(),
          forward};
}

Descriptors plain_descriptors(const ConvGeometry& g) {
  return {descriptor(g.src, Layout{}), any_descriptor(g.weights), descriptor(g.dst, Layout{})};
}

dnnl::memory::dims dims_of(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

}  // namespace

Fwd::primitive_desc conv_forward(const ConvGeometry& g, const Epilogue& epilogue) {
  const Descriptors any{any_descriptor(dims_of(g.src)), any_descriptor(g.weights), any_descriptor(dims_of(g.dst))};
  Fwd::primitive_desc chosen = make_forward(g, epilogue, any);
  const bool is_known = layout_of(chosen.src_desc(), g.src).order != Order::ChannelsLast &&
                        layout_of(chosen.dst_desc(), g.dst).order != Order::ChannelsLast;
  if (is_known && !is_reference(chosen.impl_info_str())) return chosen;
  return make_forward(g, epilogue, plain_descriptors(g));
}

BwdData::primitive_desc conv_backward_data(const ConvGeometry& g) {
  const Fwd::primitive_desc forward = conv_forward(g);
  BwdData::primitive_desc chosen =
      make_backward_data(g, forward, {forward.src_desc(), any_descriptor(g.weights), forward.dst_desc()});
  if (!is_reference(chosen.impl_info_str())) return chosen;
  return make_backward_data(g, forward, plain_descriptors(g));
}

BwdWeights::primitive_desc conv_backward_weights(const ConvGeometry& g) {
  const Fwd::primitive_desc forward = conv_forward(g);
  // Uses the forward's layouts if a fast kernel supports them, else plain ones. Plain layouts run as a matrix product,
  // for narrow groups.
  try {
    BwdWeights::primitive_desc chosen =
        make_backward_weights(g, forward, {forward.src_desc(), forward.weights_desc(), forward.dst_desc()});
    if (!is_reference(chosen.impl_info_str())) return chosen;
  } catch (const dnnl::error&) {
    // oneDNN has no kernel for these layouts, so plain ones are used.
  }
  return make_backward_weights(g, forward, plain_descriptors(g));
}

}  // namespace roentgen::engine::cpu
