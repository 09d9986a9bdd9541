// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of batch norm to a plan, including the ReLU and residual that graph passes fused into it. In
// training, forward computes statistics, then the result in one pass. Backward computes sums, then the gradient in one
// pass (norm.h). In inference, scale and shift are computed once after parameters were loaded, then the result in one
// pass. Other files: norms of segments in shared_norm.cpp, norms fused with a max pooling in norm_pool_entries.cpp.
#include "engine/cuda/norm/batch_norm_entries.h"
#include "engine/cuda/norm/running.h"
#include "engine/cuda/norm/shared_norm.h"
#include "engine/cuda/pool/norm_pool_entries.h"

namespace roentgen::engine::cuda {
NormShape norm_shape(const Located& image, const Lowering& lowering) {
  return {.type = image.layout.dtype,
          .rows = image.shape[0] * pixels(image.shape),
          .channels = static_cast<int>(padded_channels(image.shape, image.layout)),
          .multiprocessors = lowering.multiprocessors()};
}

std::size_t channel_bytes(const NormShape& shape, std::int64_t arrays) {
  return static_cast<std::size_t>(shape.channels * arrays) * sizeof(float);
}

NormParameters norm_parameters(const graph::Node& node, const NormShape& shape, Lowering& lowering) {
  for (const std::string_view name : {"weight", "bias", "running_mean", "running_var"}) {
    lowering.parameter_layout(node, name) = padded_vector(node.shape[1], shape.channels);
  }
  return {lowering.parameter(node, "weight"), lowering.parameter(node, "bias"),
          lowering.parameter(node, "running_mean"), lowering.parameter(node, "running_var")};
}

SumScratch add_scratch(const graph::Node& node, std::size_t partials, std::size_t counters, Emission& emission,
                       Lowering& lowering) {
  const SumScratch scratch{lowering.scratch(node.name + "/partials", partials * sizeof(float)),
                           lowering.kept(node.name + "/counters", counters * sizeof(unsigned))};
  emission.writes.insert(emission.writes.end(), {scratch.partials, scratch.counters});
  return scratch;
}
NormScratch scratch_at(const Addresses& at, const SumScratch& scratch) {
  return {at.f32(scratch.partials), reinterpret_cast<unsigned*>(at.bytes(scratch.counters))};
}

TensorId emit_running(const graph::BatchNorm& op, const graph::Node& node, const NormShape& shape, Lowering& lowering) {
  const NormParameters names = norm_parameters(node, shape, lowering);
  const TensorId statistics = lowering.kept(node.name + "/scale", channel_bytes(shape, kStatisticsArrays));
  lowering.emit_preparation(node,
                            {.what = "scale",
                             .kind = "batch_norm_scale",
                             .pass = Pass::Auxiliary,
                             .reads = {names.weight, names.bias, names.running_mean, names.running_var},
                             .writes = {statistics},
                             .implementation = "norm"},
                            make_kernel([=, stream = lowering.stream()](const Addresses& at) {
                              float* const arrays = at.f32(statistics);
                              const RunningNorm work{.gamma = at.f32(names.weight),
                                                     .beta = at.f32(names.bias),
                                                     .mean = at.f32(names.running_mean),
                                                     .var = at.f32(names.running_var),
                                                     .epsilon = op.epsilon,
                                                     .channels = shape.channels,
                                                     .scale = arrays + kScale * shape.channels,
                                                     .shift = arrays + kShift * shape.channels};
                              return [=] { scale_from_running(*stream, work); };
                            }));
  return statistics;
}
namespace {
NormSums sums_at(const Addresses& at, const NormBackward& tensors, const NormShape& shape) {
  const auto bytes = [&](TensorId id) { return id >= 0 ? at.bytes(id) : nullptr; };
  const float* const arrays = at.f32(tensors.statistics);
  float* const slopes = at.f32(tensors.slopes);
  return {.mask = tensors.mask,
          .x = bytes(tensors.x),
          .dy = bytes(tensors.dy),
          .second = bytes(tensors.second),
          .passed = reinterpret_cast<const std::uint8_t*>(bytes(tensors.passed)),
          .masked = bytes(tensors.masked),
          .mean = arrays + kMean * shape.channels,
          .inv_std = arrays + kInvStd * shape.channels,
          .scale = arrays + kScale * shape.channels,
          .shift = arrays + kShift * shape.channels,
          .dgamma = at.f32(tensors.diff_weight),
          .dbeta = at.f32(tensors.diff_bias),
          .slope = slopes + kSlope * shape.channels,
          .offset = slopes + kOffset * shape.channels,
          .count = tensors.count};
}

}  // namespace

void emit_norm_sums(const graph::Node& node, const NormBackward& tensors, const NormShape& shape, Lowering& lowering) {
  Emission emission{.what = "backward_sums",
                    .kind = "batch_norm_sums",
                    .pass = Pass::BackwardWeights,
                    .reads = {tensors.x, tensors.dy, tensors.statistics},
                    .writes = {tensors.slopes, tensors.diff_weight, tensors.diff_bias},
                    .implementation = "norm"};
  for (const TensorId tensor : {tensors.second, tensors.passed}) {
    if (tensor >= 0) emission.reads.push_back(tensor);
  }
  if (tensors.masked >= 0) {
    emission.writes.push_back(tensors.masked);
    emission.in_place = {{tensors.dy, tensors.masked}};
  }
  const SumScratch scratch = add_scratch(node, norm_partials(shape), norm_counters(shape), emission, lowering);
  lowering.emit(node, std::move(emission), make_kernel([=, stream = lowering.stream()](const Addresses& at) {
                  return [=, work = sums_at(at, tensors, shape), memory = scratch_at(at, scratch)] {
                    norm_gradient_sums(*stream, shape, work, memory);
                  };
                }));
}

namespace {
// Emits the statistics of the batch, which are kept for backward. The entry also updates the running statistics.
void emit_statistics(const graph::BatchNorm& op, const graph::Node& node, const Located& src, TensorId statistics,
                     Lowering& lowering) {
  const NormShape shape = norm_shape(src, lowering);
  const NormParameters names = norm_parameters(node, shape, lowering);
  Emission emission{.what = "statistics",
                    .kind = "batch_norm_statistics",
                    .reads = {src.tensor, names.weight, names.bias},
                    .writes = {statistics, names.running_mean, names.running_var},
                    .implementation = "norm"};
  const SumScratch scratch = add_scratch(node, norm_partials(shape), norm_counters(shape), emission, lowering);
  lowering.emit(node, std::move(emission), make_kernel([=, stream = lowering.stream()](const Addresses& at) {
                  float* const arrays = at.f32(statistics);
                  const NormChannels channels{.gamma = at.f32(names.weight),
                                              .beta = at.f32(names.bias),
                                              .mean = arrays + kMean * shape.channels,
                                              .inv_std = arrays + kInvStd * shape.channels,
                                              .scale = arrays + kScale * shape.channels,
                                              .shift = arrays + kShift * shape.channels};
                  const NormRunning running{.mean = at.f32(names.running_mean),
                                            .var = at.f32(names.running_var),
                                            .momentum = static_cast<float>(op.momentum),
                                            .epsilon = static_cast<float>(op.epsilon)};
                  return [=, x = at.bytes(src.tensor), memory = scratch_at(at, scratch)] {
                    norm_statistics(*stream, shape, x, channels, running, memory);
                  };
                }));
}

// True if forward must store one bit per element for backward: the ReLU's input includes a residual.
bool keeps_bits(const graph::BatchNorm& op, const graph::Node& node) { return op.relu && node.inputs.size() == 2; }

// Tensors of norm_apply(); -1 for an absent residual or `passed`.
struct Apply {
  TensorId x = -1, statistics = -1, residual = -1, y = -1, passed = -1;
};
std::unique_ptr<Kernel> apply_kernel(const graph::BatchNorm& op, const NormShape& shape, const Apply& tensors,
                                     runtime::Stream* stream) {
  return make_kernel([=, relu = op.relu](const Addresses& at) {
    const auto bytes = [&](TensorId id) { return id >= 0 ? at.bytes(id) : nullptr; };
    const float* const arrays = at.f32(tensors.statistics);
    const NormApply work{.x = bytes(tensors.x),
                         .residual = bytes(tensors.residual),
                         .scale = arrays + kScale * shape.channels,
                         .shift = arrays + kShift * shape.channels,
                         .y = bytes(tensors.y),
                         .passed = reinterpret_cast<std::uint8_t*>(bytes(tensors.passed)),
                         .relu = relu};
    return [=] { norm_apply(*stream, shape, work); };
  });
}

// Emits y = relu(scale x + shift + residual).
void emit_apply(const graph::BatchNorm& op, graph::NodeId id, const Located& src, TensorId statistics,
                Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const NormShape shape = norm_shape(src, lowering);
  const TensorId residual = node.inputs.size() == 2 ? lowering.image(node.inputs[1]).tensor : -1;
  const Located dst = lowering.define(id, src.layout);
  Emission emission{.what = "forward",
                    .kind = residual >= 0 ? "batch_norm_add_forward" : "batch_norm_forward",
                    .reads = {src.tensor, statistics},
                    .writes = {dst.tensor},
                    .implementation = op.relu ? "norm+relu" : "norm"};
  if (residual >= 0) {
    emission.reads.push_back(residual);
    emission.in_place = {{residual, dst.tensor}};
  } else if (!lowering.is_training()) {
    emission.in_place = {{src.tensor, dst.tensor}};
  }
  TensorId passed = -1;
  if (keeps_bits(op, node) && lowering.needs_gradient(id)) {
    passed = lowering.scratch(node.name + "/passed", static_cast<std::size_t>(shape.rows * shape.channels / 8));
    emission.writes.push_back(passed);
    lowering.kept_by_forward(id) = passed;
  }
  const Apply tensors{src.tensor, statistics, residual, dst.tensor, passed};
  lowering.emit(node, std::move(emission), apply_kernel(op, shape, tensors, lowering.stream()));
}

void emit_gradient(graph::NodeId id, const NormBackward& tensors, const NormShape& shape, Lowering& lowering) {
  const graph::NodeId input = lowering.node(id).inputs[0];
  const Located diff_src = lowering.gradient_tensor(input, lowering.image_layout());
  const bool is_masked = tensors.masked >= 0;
  const TensorId dy = is_masked ? tensors.masked : tensors.dy;
  lowering.emit_backward(id, "batch_norm", {tensors.x, dy, tensors.statistics, tensors.slopes}, diff_src,
                         {make_kernel([=, stream = lowering.stream()](const Addresses& at) {
                            const float* const arrays = at.f32(tensors.statistics);
                            const float* const slopes = at.f32(tensors.slopes);
                            const NormGradient work{.mask = is_masked ? NormMask::None : tensors.mask,
                                                    .x = at.bytes(tensors.x),
                                                    .dy = at.bytes(dy),
                                                    .scale = arrays + kScale * shape.channels,
                                                    .shift = arrays + kShift * shape.channels,
                                                    .slope = slopes + kSlope * shape.channels,
                                                    .offset = slopes + kOffset * shape.channels,
                                                    .dx = at.bytes(diff_src.tensor)};
                            return [=] { norm_gradient_apply(*stream, shape, work); };
                          }),
                          "norm"},
                         dy);
}
}  // namespace

void lower(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering) {
  if (is_shared_norm(id, lowering)) return lower_shared(op, id, lowering);
  const graph::Node& node = lowering.node(id);
  const Located src = lowering.image(node.inputs[0]);
  const NormShape shape = norm_shape(src, lowering);
  if (!lowering.is_training()) {
    emit_apply(op, id, src, emit_running(op, node, shape, lowering), lowering);
    return;
  }
  const TensorId statistics = lowering.scratch(node.name + "/statistics", channel_bytes(shape, kStatisticsArrays));
  lowering.own_statistics(id) = statistics;
  emit_statistics(op, node, src, statistics, lowering);
  if (is_pooled_norm(id, lowering)) return lowering.define_nowhere(id);
  emit_apply(op, id, src, statistics, lowering);
}

Located lower_again(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering) {
  if (is_shared_norm(id, lowering)) return lower_shared_again(op, id, lowering);
  const graph::Node& node = lowering.node(id);
  const Located src = lowering.image(node.inputs[0]);
  const Located dst = lowering.tensor(node.name + "/again", node.shape, src.layout);
  const bool has_residual = node.inputs.size() == 2;
  const Apply tensors{.x = src.tensor,
                      .statistics = lowering.own_statistics(id),
                      .residual = has_residual ? lowering.value_again(node.inputs[1], src.layout).tensor : -1,
                      .y = dst.tensor};
  Emission emission{.what = "again",
                    .kind = "batch_norm_again",
                    .pass = Pass::Auxiliary,
                    .reads = {src.tensor, tensors.statistics},
                    .writes = {dst.tensor},
                    .implementation = "norm"};
  if (has_residual) {
    emission.reads.push_back(tensors.residual);
    emission.in_place = {{tensors.residual, dst.tensor}};
  }
  const NormShape shape = norm_shape(src, lowering);
  lowering.emit(node, std::move(emission), apply_kernel(op, shape, tensors, lowering.stream()));
  return dst;
}

void lower_backward(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering) {
  if (is_shared_norm(id, lowering)) return lower_shared_backward(id, lowering);
  const graph::Node& node = lowering.node(id);
  const Located src = lowering.image(node.inputs[0]);
  const NormShape shape = norm_shape(src, lowering);
  std::vector<Located> incoming = lowering.gradients(id, lowering.image_layout());
  if (incoming.size() > 2) incoming = {lowering.image_gradient(id)};
  NormBackward tensors{.x = src.tensor,
                       .dy = incoming[0].tensor,
                       .second = incoming.size() == 2 ? incoming[1].tensor : -1,
                       .passed = lowering.kept_by_forward(id),
                       .statistics = lowering.own_statistics(id),
                       .slopes = lowering.scratch(node.name + "/slopes", channel_bytes(shape, kSlopeArrays)),
                       .diff_weight = lowering.parameter_gradient(node, "weight"),
                       .diff_bias = lowering.parameter_gradient(node, "bias"),
                       .mask = keeps_bits(op, node) ? NormMask::Bits
                               : op.relu            ? NormMask::Recomputed
                                                    : NormMask::None};
  const bool has_residual = node.inputs.size() == 2;
  // Stores the masked gradient if it is the residual's gradient, or the sum of two incoming gradients. The second pass
  // then reads only one gradient.
  Located masked;
  if (has_residual || tensors.second >= 0) {
    const graph::NodeId named = has_residual ? node.inputs[1] : id;
    masked = lowering.gradient_tensor(named, lowering.image_layout());
    tensors.masked = masked.tensor;
  }
  emit_norm_sums(node, tensors, shape, lowering);
  if (has_residual) lowering.contribute(node.inputs[1], masked);
  if (lowering.needs_gradient(node.inputs[0])) emit_gradient(id, tensors, shape, lowering);
}

}  // namespace roentgen::engine::cuda
