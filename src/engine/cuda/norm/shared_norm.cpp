// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/norm/shared_norm.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/error.h"
#include "engine/cuda/norm/batch_norm_entries.h"
#include "engine/cuda/norm/segments.h"

namespace roentgen::engine::cuda {
namespace {
// Shape of the node's result, whether or not it is stored.
NormShape result_shape(graph::NodeId id, const Lowering& lowering) {
  return norm_shape({-1, lowering.node(id).shape, lowering.image_layout()}, lowering);
}
NormShape segment_shape(graph::NodeId segment, const Lowering& lowering) { return result_shape(segment, lowering); }

// A segment (input of a virtual concatenation) that an entry reads: its tensors, and its addresses after bind().
struct SegmentTensors {
  TensorId x = -1, moments = -1;
  NormSegment at_device;
};

class SegmentsApply final : public Kernel {
 public:
  SegmentsApply(const NormShape& shape, std::vector<SegmentTensors> segments, const NormSegmentsApply& work,
                NormParameters parameters, TensorId statistics, TensorId dst, bool is_training, runtime::Stream* stream)
      : shape_(shape),
        tensors_(std::move(segments)),
        work_(work),
        parameters_(parameters),
        statistics_(statistics),
        dst_(dst),
        is_training_(is_training),
        stream_(stream) {
    for (const SegmentTensors& one : tensors_) segments_.push_back(one.at_device);
    work_.segments = segments_;
  }
  void bind(const Addresses& at) override {
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      segments_[i].x = at.bytes(tensors_[i].x);
      if (is_training_) segments_[i].moments = at.f32(tensors_[i].moments);
    }
    work_.scale = at.f32(statistics_) + kScale * shape_.channels;
    work_.shift = at.f32(statistics_) + kShift * shape_.channels;
    work_.y = at.bytes(dst_);
    if (!is_training_) return;
    work_.gamma = at.f32(parameters_.weight);
    work_.beta = at.f32(parameters_.bias);
    work_.running.mean = at.f32(parameters_.running_mean);
    work_.running.var = at.f32(parameters_.running_var);
  }
  void run() override { norm_segments_apply(*stream_, shape_, work_); }

 private:
  NormShape shape_;
  std::vector<SegmentTensors> tensors_;
  std::vector<NormSegment> segments_;
  NormSegmentsApply work_;
  NormParameters parameters_;
  TensorId statistics_, dst_;
  bool is_training_;
  runtime::Stream* stream_;
};

// Moments of a segment, which is an input of a virtual concatenation. The first call emits the entry that computes
// them.
TensorId segment_moments(graph::NodeId segment, Lowering& lowering) {
  SharedNorm& shared = lowering.shared_norm(segment);
  if (shared.statistics >= 0) return shared.statistics;
  const graph::Node& node = lowering.node(segment);
  const Located here = lowering.image(segment);
  const NormShape shape = norm_shape(here, lowering);
  shared.statistics = lowering.scratch(node.name + "/moments", channel_bytes(shape, 2));
  Emission emission{.what = "moments",
                    .kind = "batch_norm_moments",
                    .reads = {here.tensor},
                    .writes = {shared.statistics},
                    .implementation = "norm"};
  const SumScratch scratch = add_scratch(node, norm_partials(shape), norm_counters(shape), emission, lowering);
  lowering.emit(node, std::move(emission),
                make_kernel([=, moments = shared.statistics, stream = lowering.stream()](const Addresses& at) {
                  return [=, x = at.bytes(here.tensor), into = at.f32(moments), memory = scratch_at(at, scratch)] {
                    norm_moments(*stream, shape, x, into, memory);
                  };
                }));
  return shared.statistics;
}

// Tensors of one norm in a backward pass, and its addresses after bind().
struct NormTensors {
  TensorId dy = -1, statistics = -1, diff_weight = -1, diff_bias = -1;
  NormSegmentsGradient at_device;
};
struct GradientTensors {
  TensorId x = -1, moments = -1, sum = -1, slopes = -1;
  SegmentGradient at_device;
};

class SegmentsBackward final : public Kernel {
 public:
  SegmentsBackward(const NormShape& shape, std::vector<GradientTensors> segments, std::vector<NormTensors> norms,
                   SumScratch scratch, runtime::Stream* stream)
      : shape_(shape), tensors_(std::move(segments)), norms_(std::move(norms)), scratch_(scratch), stream_(stream) {
    for (const GradientTensors& one : tensors_) segments_.push_back(one.at_device);
    work_.segments = segments_;
    work_.norm_count = static_cast<int>(norms_.size());
    for (std::size_t i = 0; i < norms_.size(); ++i) work_.norms.at(i) = norms_[i].at_device;
  }
  void bind(const Addresses& at) override {
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      segments_[i].x = at.bytes(tensors_[i].x);
      segments_[i].moments = at.f32(tensors_[i].moments);
      if (tensors_[i].sum < 0) continue;
      segments_[i].sum = at.bytes(tensors_[i].sum);
      segments_[i].slopes = at.f32(tensors_[i].slopes);
    }
    for (std::size_t i = 0; i < norms_.size(); ++i) {
      NormSegmentsGradient& norm = work_.norms.at(i);
      norm.dy = at.bytes(norms_[i].dy);
      norm.scale = at.f32(norms_[i].statistics) + std::int64_t{kScale} * norm.channels;
      norm.shift = at.f32(norms_[i].statistics) + std::int64_t{kShift} * norm.channels;
      norm.dgamma = at.f32(norms_[i].diff_weight);
      norm.dbeta = at.f32(norms_[i].diff_bias);
    }
    memory_ = scratch_at(at, scratch_);
  }
  void run() override { norm_segments_backward(*stream_, shape_, work_, memory_); }

 private:
  NormShape shape_;
  std::vector<GradientTensors> tensors_;
  std::vector<SegmentGradient> segments_;
  std::vector<NormTensors> norms_;
  NormSegmentsBackward work_;
  SumScratch scratch_;
  NormScratch memory_;
  runtime::Stream* stream_;
};

// A segment in a backward pass, and its first channel in each batch norm of the pass.
struct Part {
  graph::NodeId segment = -1;
  std::array<int, kMostNorms> begin{};
};
// A norm of a pass: its node, and the gradient of its result.
struct PassNorm {
  graph::NodeId id = -1;
  TensorId dy = -1;
};

NormTensors norm_tensors(const PassNorm& norm, Emission& emission, Lowering& lowering) {
  const graph::Node& node = lowering.node(norm.id);
  const auto& op = std::get<graph::BatchNorm>(node.op);
  const NormTensors tensors{.dy = norm.dy,
                            .statistics = lowering.own_statistics(norm.id),
                            .diff_weight = lowering.parameter_gradient(node, "weight"),
                            .diff_bias = lowering.parameter_gradient(node, "bias"),
                            .at_device = {.channels = result_shape(norm.id, lowering).channels,
                                          .epsilon = static_cast<float>(op.epsilon),
                                          .relu = op.relu}};
  emission.reads.insert(emission.reads.end(), {tensors.dy, tensors.statistics});
  emission.writes.insert(emission.writes.end(), {tensors.diff_weight, tensors.diff_bias});
  return tensors;
}

GradientTensors gradient_tensors(const Part& part, Emission& emission, Lowering& lowering) {
  const SharedNorm& shared = lowering.shared_norm(part.segment);
  GradientTensors tensors{
      .x = lowering.image(part.segment).tensor,
      .moments = shared.statistics,
      .sum = shared.gradient,
      .slopes = shared.sums,
      .at_device = {.channels = segment_shape(part.segment, lowering).channels, .begin = part.begin}};
  emission.reads.insert(emission.reads.end(), {tensors.x, tensors.moments});
  if (tensors.sum >= 0) {
    tensors.at_device.is_first = lowering.plan.tensors[static_cast<std::size_t>(tensors.sum)].first < 0;
    emission.writes.insert(emission.writes.end(), {tensors.sum, tensors.slopes});
  }
  return tensors;
}

// Emits a backward pass over these segments, or nothing if there are none.
void emit_pass(const std::vector<PassNorm>& norms, const std::vector<Part>& parts, Lowering& lowering) {
  if (parts.empty()) return;
  const graph::Node& node = lowering.node(norms.back().id);
  Emission emission{.what = "backward",
                    .kind = "concat_batch_norm_backward",
                    .pass = Pass::BackwardData,
                    .reads = {},
                    .writes = {},
                    .implementation = norms.size() == 1 ? "segments" : "segments, two norms"};
  std::vector<NormTensors> of_norms;
  for (const PassNorm& norm : norms) of_norms.push_back(norm_tensors(norm, emission, lowering));
  std::vector<GradientTensors> of_parts;
  NormShape shape = result_shape(norms.back().id, lowering);
  shape.channels = 0;
  for (const Part& part : parts) {
    of_parts.push_back(gradient_tensors(part, emission, lowering));
    shape.channels += of_parts.back().at_device.channels;
  }
  const auto count = static_cast<int>(norms.size());
  const SumScratch scratch =
      add_scratch(node, norm_segments_partials(shape, count), norm_segments_counters(shape, count), emission, lowering);
  lowering.emit(
      node, std::move(emission),
      std::make_unique<SegmentsBackward>(shape, std::move(of_parts), std::move(of_norms), scratch, lowering.stream()));
}

// Returns the segments of a norm with their first channels. Creates the gradients of segments that need one.
std::vector<WaitingNorm::Part> open_segments(graph::NodeId id, Lowering& lowering) {
  std::vector<WaitingNorm::Part> parts;
  int begin = 0;
  for (const graph::NodeId segment : lowering.pieces(lowering.node(id).inputs[0])) {
    const NormShape shape = segment_shape(segment, lowering);
    SharedNorm& shared = lowering.shared_norm(segment);
    if (lowering.needs_gradient(segment) && shared.gradient < 0) {
      const std::string& name = lowering.node(segment).name;
      shared.gradient = lowering.tensor("G:" + name, lowering.node(segment).shape, lowering.image_layout()).tensor;
      shared.sums = lowering.scratch("slopes:" + name, channel_bytes(shape, kSlopeArrays));
    }
    parts.push_back({segment, begin});
    begin += shape.channels;
  }
  return parts;
}
}  // namespace

bool is_shared_norm(graph::NodeId id, const Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  if (node.inputs.size() != 1) return false;
  return lowering.is_virtual(node.inputs[0]) || (lowering.is_training() && lowering.is_shared_piece(node.inputs[0]));
}

void lower_shared(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const NormShape shape = result_shape(id, lowering);
  const NormParameters parameters = norm_parameters(node, shape, lowering);
  const bool is_training = lowering.is_training();
  const TensorId statistics = is_training
                                  ? lowering.scratch(node.name + "/statistics", channel_bytes(shape, kStatisticsArrays))
                                  : emit_running(op, node, shape, lowering);
  Emission emission{.what = "forward",
                    .kind = "concat_batch_norm_forward",
                    .reads = {},
                    .writes = {},
                    .implementation = op.relu ? "segments+relu" : "segments"};
  std::vector<SegmentTensors> segments;
  int begin = 0;
  for (const graph::NodeId segment : lowering.pieces(node.inputs[0])) {
    SegmentTensors tensors{.x = lowering.image(segment).tensor,
                           .at_device = {.channels = segment_shape(segment, lowering).channels, .begin = begin}};
    begin += tensors.at_device.channels;
    emission.reads.push_back(tensors.x);
    if (is_training) emission.reads.push_back(tensors.moments = segment_moments(segment, lowering));
    segments.push_back(tensors);
  }
  const Located dst = lowering.define(id, lowering.image_layout());
  emission.writes = {dst.tensor};
  if (is_training) {
    lowering.own_statistics(id) = statistics;
    emission.reads.insert(emission.reads.end(), {parameters.weight, parameters.bias});
    emission.writes.insert(emission.writes.end(), {statistics, parameters.running_mean, parameters.running_var});
  } else {
    emission.reads.push_back(statistics);
  }
  const NormSegmentsApply work{
      .running = {.momentum = static_cast<float>(op.momentum), .epsilon = static_cast<float>(op.epsilon)},
      .relu = op.relu};
  lowering.emit(node, std::move(emission),
                std::make_unique<SegmentsApply>(shape, std::move(segments), work, parameters, statistics, dst.tensor,
                                                is_training, lowering.stream()));
}

Located lower_shared_again(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const TensorId statistics = lowering.own_statistics(id);
  const Located dst = lowering.tensor(node.name + "/again", node.shape, lowering.image_layout());
  Emission emission{.what = "again",
                    .kind = "batch_norm_again",
                    .pass = Pass::Auxiliary,
                    .reads = {statistics},
                    .writes = {dst.tensor},
                    .implementation = "segments"};
  std::vector<SegmentTensors> segments;
  int begin = 0;
  for (const graph::NodeId segment : lowering.pieces(node.inputs[0])) {
    SegmentTensors& tensors = segments.emplace_back(
        SegmentTensors{.x = lowering.image(segment).tensor,
                       .at_device = {.channels = segment_shape(segment, lowering).channels, .begin = begin}});
    begin += tensors.at_device.channels;
    emission.reads.push_back(tensors.x);
  }
  // Uses stored scale and shift, as inference does, because running statistics must not be updated twice.
  constexpr bool kTakesStatistics = false;
  lowering.emit(node, std::move(emission),
                std::make_unique<SegmentsApply>(result_shape(id, lowering), std::move(segments),
                                                NormSegmentsApply{.relu = op.relu}, NormParameters{}, statistics,
                                                dst.tensor, kTakesStatistics, lowering.stream()));
  return dst;
}

void lower_shared_backward(graph::NodeId id, Lowering& lowering) {
  const WaitingNorm before = std::exchange(lowering.waiting_norm(), {});
  WaitingNorm here{.id = id, .dy = lowering.image_gradient(id).tensor, .parts = open_segments(id, lowering)};
  std::vector<Part> both, alone_before, alone_here;
  std::vector<WaitingNorm::Part> wait;
  for (const WaitingNorm::Part& part : before.parts) {
    const auto found = std::ranges::find(here.parts, part.segment, &WaitingNorm::Part::segment);
    if (found == here.parts.end()) {
      alone_before.push_back({part.segment, {part.begin}});
    } else {
      both.push_back({part.segment, {part.begin, found->begin}});
      here.parts.erase(found);
    }
  }
  for (const WaitingNorm::Part& part : here.parts) {
    // A segment that needs no gradient must not wait, because no entry will ever request its gradient.
    const bool waits = both.empty() && lowering.needs_gradient(part.segment);
    if (waits) {
      wait.push_back(part);
    } else {
      alone_here.push_back({part.segment, {part.begin}});
    }
  }
  emit_pass({{before.id, before.dy}}, alone_before, lowering);
  emit_pass({{before.id, before.dy}, {id, here.dy}}, both, lowering);
  emit_pass({{id, here.dy}}, alone_here, lowering);
  here.parts = std::move(wait);
  if (!here.parts.empty()) lowering.waiting_norm() = std::move(here);
}

Located finish_segment(graph::NodeId segment, Lowering& lowering) {
  WaitingNorm& waiting = lowering.waiting_norm();
  std::vector<Part> now;
  std::erase_if(waiting.parts, [&](const WaitingNorm::Part& part) {
    if (part.segment != segment) return false;
    now.push_back({part.segment, {part.begin}});
    return true;
  });
  emit_pass({{waiting.id, waiting.dy}}, now, lowering);
  SharedNorm& shared = lowering.shared_norm(segment);
  const graph::Node& node = lowering.node(segment);
  const Located here = lowering.image(segment);
  const NormShape shape = norm_shape(here, lowering);
  const Located diff = lowering.gradient_tensor(segment, lowering.image_layout());
  lowering.emit(
      node,
      {.what = "finish",
       .kind = "concat_batch_norm_finish",
       .pass = Pass::BackwardData,
       .reads = {here.tensor, shared.gradient, shared.sums},
       .writes = {diff.tensor},
       .implementation = "norm",
       .in_place = {{shared.gradient, diff.tensor}}},
      make_kernel([=, sum = shared.gradient, slopes = shared.sums, stream = lowering.stream()](const Addresses& at) {
        const float* const arrays = at.f32(slopes);
        const NormGradient work{.mask = NormMask::None,
                                .x = at.bytes(here.tensor),
                                .dy = at.bytes(sum),
                                .slope = arrays + kSlope * shape.channels,
                                .offset = arrays + kOffset * shape.channels,
                                .dx = at.bytes(diff.tensor)};
        return [=] { norm_gradient_apply(*stream, shape, work); };
      }));
  shared.gradient = -1;  // finished
  return diff;
}

}  // namespace roentgen::engine::cuda
