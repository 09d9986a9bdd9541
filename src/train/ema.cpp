// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/ema.h"

#include <algorithm>

#include "core/error.h"
#include "engine/engine.h"

namespace roentgen::train {
double ema_decay(double decay, std::int64_t update) {
  const auto t = static_cast<double>(update);
  return std::min(decay, (1.0 + t) / (10.0 + t));
}

Ema::Ema(engine::Executable& executable, double decay)
    : executable_(executable),
      decay_(decay),
      weights_(executable.make_arena(engine::ArenaKind::Trained)),
      statistics_(executable.make_arena(engine::ArenaKind::State)) {
  RG_ASSERT(decay > 0.0 && decay < 1.0);
  engine::copy_arena(executable.parameters(), *weights_);
  engine::copy_arena(executable.state(), *statistics_);
}

void Ema::update(std::int64_t update) {
  const engine::Average rule{.share = 1.0 - ema_decay(decay_, update)};
  const auto follow = [&](engine::Arena& average, const engine::Arena& now) {
    const engine::UpdateRange all{.begin = 0, .count = average.elements()};
    executable_.update(rule, {.target = average, .source = now, .ranges = {&all, 1}});
  };
  follow(*weights_, executable_.parameters());
  follow(*statistics_, executable_.state());
}

engine::Arena& Ema::arena_of(const graph::Parameter& parameter) const {
  return graph::is_trained(parameter.role) ? *weights_ : *statistics_;
}

std::vector<NamedTensor> Ema::weights() const {
  std::vector<NamedTensor> weights;
  const auto& parameters = executable_.graph().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    weights.push_back({.name = parameters[i].name,
                       .shape = parameters[i].shape,
                       .values = executable_.store(static_cast<std::int32_t>(i), arena_of(parameters[i]))});
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
    throw ConfigError(error_text("train.checkpoint", what, "the moving averages of train.ema", report.text(),
                                 "--overwrite to start again"));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto tensor = std::ranges::find(state, wanted[i].name, &NamedTensor::name);
    executable_.load(static_cast<std::int32_t>(i), tensor->values, arena_of(parameters[i]));
  }
}

}  // namespace roentgen::train
