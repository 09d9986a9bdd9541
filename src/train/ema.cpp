// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/ema.h"

#include <algorithm>

#include "core/error.h"
#include "engine/engine.h"
#include "train/optimizer/flat.h"

namespace roentgen::train {
namespace {

void move_towards(std::span<float> average, std::span<const float> weights, float share, int threads) {
  RG_ASSERT(average.size() == weights.size());
  for_chunks(static_cast<std::int64_t>(average.size()), threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      average[i] += share * (weights[i] - average[i]);
    }
  });
}

}  // namespace

double ema_decay(double decay, std::int64_t update) {
  const auto t = static_cast<double>(update);
  return std::min(decay, (1.0 + t) / (10.0 + t));
}

Ema::Ema(engine::Executable& executable, double decay, int threads)
    : executable_(executable),
      decay_(decay),
      threads_(threads),
      arena_(executable.parameters().begin(), executable.parameters().end()) {
  RG_ASSERT(decay > 0.0 && decay < 1.0);
  const auto& parameters = executable.graph().parameters();
  statistics_.resize(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!graph::is_trained(parameters[i].role)) statistics_[i] = executable.store(static_cast<std::int32_t>(i));
  }
}

void Ema::update(std::int64_t update) {
  const auto share = static_cast<float>(1.0 - ema_decay(decay_, update));
  move_towards(arena_, executable_.parameters(), share, threads_);
  for (std::size_t i = 0; i < statistics_.size(); ++i) {
    if (statistics_[i].empty()) continue;
    move_towards(statistics_[i], executable_.store(static_cast<std::int32_t>(i)), share, 1);
  }
}

std::vector<NamedTensor> Ema::weights() const {
  std::vector<NamedTensor> weights;
  const auto& parameters = executable_.graph().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool is_trained = graph::is_trained(parameters[i].role);
    weights.push_back(
        {.name = parameters[i].name,
         .shape = parameters[i].shape,
         .values = is_trained ? executable_.to_plain(static_cast<std::int32_t>(i), arena_) : statistics_[i]});
  }
  return weights;
}

std::vector<NamedTensor> Ema::state() const {
  std::vector<NamedTensor> tensors = weights();
  for (NamedTensor& tensor : tensors) tensor.name.insert(0, kEmaPrefix);
  return tensors;
}

void Ema::restore(const std::vector<NamedTensor>& state, std::string_view what) {
  const auto& parameters = executable_.graph().parameters();
  std::vector<graph::Parameter> wanted;
  for (const graph::Parameter& parameter : parameters) {
    wanted.push_back({.name = std::string(kEmaPrefix) + parameter.name, .shape = parameter.shape, .init = {}});
  }
  if (const LoadReport report = compare(state, wanted); !report.is_clean()) {
    throw ConfigError(
        error_text("train.checkpoint", what, "the averages of train.ema", report.text(), "--overwrite to start anew"));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto tensor = std::ranges::find(state, wanted[i].name, &NamedTensor::name);
    if (graph::is_trained(parameters[i].role)) {
      executable_.from_plain(static_cast<std::int32_t>(i), tensor->values, arena_);
    } else {
      statistics_[i] = tensor->values;
    }
  }
}

}  // namespace roentgen::train
