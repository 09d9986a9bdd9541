// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/update/updates.h"

#include <algorithm>
#include <cstring>

#include "engine/cuda/update/scale.h"

namespace roentgen::engine::cuda {
namespace {
bool are_equal(std::span<const UpdateRange> a, std::span<const UpdateRange> b) {
  return std::ranges::equal(a, b, [](const UpdateRange& one, const UpdateRange& other) {
    return one.begin == other.begin && one.count == other.count && one.weight_decay == other.weight_decay &&
           one.is_layer == other.is_layer;
  });
}

}  // namespace

std::vector<UpdateLayer> update_layers(std::span<const UpdateRange> ranges, std::span<const UpdatePart> parts) {
  std::vector<UpdateLayer> layers;
  for (const UpdateRange& range : ranges) {
    layers.push_back({.weight_decay = range.weight_decay, .is_layer = range.is_layer ? 1 : 0});
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    UpdateLayer& layer = layers.at(static_cast<std::size_t>(parts[i].range));
    if (layer.part_count++ == 0) layer.first_part = static_cast<std::int32_t>(i);
  }
  return layers;
}

std::vector<UpdatePart> update_parts(std::span<const UpdateRange> ranges) {
  std::vector<UpdatePart> parts;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (std::int64_t at = 0; at < ranges[i].count; at += kPartElements) {
      const std::int64_t count = std::min(kPartElements, ranges[i].count - at);
      parts.push_back({.begin = ranges[i].begin + at,
                       .count = static_cast<std::int32_t>(count),
                       .range = static_cast<std::int32_t>(i),
                       .weight_decay = static_cast<float>(ranges[i].weight_decay)});
    }
  }
  return parts;
}

Updates::Updates(runtime::Device& device, runtime::Stream& stream, StepState* state, std::int64_t growth_updates)
    : device_(device),
      stream_(stream),
      state_(state),
      growth_updates_(growth_updates),
      partial_(device.make_device_buffer(kNormPartials * sizeof(double))),
      norm_(device.make_pinned_buffer(sizeof(double))),
      norm_on_device_(device.make_device_buffer(sizeof(double))),
      norm_ready_(device.make_event()),
      done_(device.make_event()) {}

const Updates::Parts& Updates::parts_of(std::span<const UpdateRange> ranges) {
  for (const auto& known : parts_) {
    if (are_equal(known->ranges, ranges)) return *known;
  }
  auto made = std::make_unique<Parts>();
  made->ranges.assign(ranges.begin(), ranges.end());
  const std::vector<UpdatePart> parts = update_parts(ranges);
  made->count = std::ssize(parts);
  made->parts = device_.make_device_buffer(parts.size() * sizeof(UpdatePart));
  const std::vector<UpdateLayer> layers = update_layers(ranges, parts);
  made->layers = device_.make_device_buffer(layers.size() * sizeof(UpdateLayer));
  made->squares = device_.make_device_buffer(parts.size() * 2 * sizeof(double));
  made->factors = device_.make_device_buffer(ranges.size() * sizeof(float));
  stream_.upload(std::as_bytes(std::span(parts)), *made->parts, 0);
  stream_.upload(std::as_bytes(std::span(layers)), *made->layers, 0);
  stream_.synchronize();
  return *parts_.emplace_back(std::move(made));
}

const runtime::Event& Updates::run(const UpdateRule& rule, const UpdateWork& work) {
  const Parts& parts = parts_of(work.ranges);
  if (work.after != nullptr) stream_.wait_for(*work.after);
  const std::int64_t growth_updates = is_optimizer(rule) ? growth_updates_ : 0;
  if (work.clip_norm > 0.0 || growth_updates > 0) {
    auto* const norm = reinterpret_cast<double*>(norm_on_device_->address());
    store_clipped_scale(stream_, state_, work, growth_updates, reinterpret_cast<double*>(partial_->address()), norm);
    stream_.download(*norm_on_device_, *norm_);
    stream_.record(*norm_ready_);
  } else {
    store_scale(stream_, state_, static_cast<float>(work.scale));
  }
  const UpdateCall call{.stream = stream_,
                        .work = work,
                        .state = state_,
                        .parts = reinterpret_cast<const UpdatePart*>(parts.parts->address()),
                        .part_count = parts.count,
                        .layers = reinterpret_cast<const UpdateLayer*>(parts.layers->address()),
                        .squares = reinterpret_cast<double*>(parts.squares->address()),
                        .factors = reinterpret_cast<float*>(parts.factors->address())};
  if (parts.count > 0) std::visit([&](const auto& one) { update(one, call); }, rule);
  stream_.record(*done_);
  return *done_;
}

double Updates::read_norm() const {
  norm_ready_->wait();
  double norm = 0.0;
  std::memcpy(&norm, norm_->bytes().data(), sizeof norm);
  return norm;
}

}  // namespace roentgen::engine::cuda
