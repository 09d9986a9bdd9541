// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/plan_executable.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace roentgen::engine {

PlanExecutable::PlanExecutable(const graph::Graph& original, CompileOptions options, runtime::Device& device)
    : options_(std::move(options)), graph_(original), device_(device), stream_(device.make_stream()) {}

void PlanExecutable::take(PlanBuilder& builder, const Arenas& arenas) {
  plan_ = std::move(builder.plan);
  buckets_ = arenas.buckets;
  map_.emplace(graph_, builder, plan_);
  memory_.emplace(plan_, arenas, options_.form, device_, *stream_);
  runner_.emplace(builder, plan_, buckets_.size(), device_, *stream_);
  inputs_ = builder.inputs;
  input_tensors_ = builder.input_tensors;
  for (const auto& [name, tensor] : builder.output_tensors) {
    if (name == "loss") loss_ = outputs_.size();
    outputs_.push_back({name, tensor, plan_.tensors[static_cast<std::size_t>(tensor)].bytes});
  }
}

std::size_t PlanExecutable::output_index(std::string_view name) const {
  const auto found = std::ranges::find(outputs_, name, &Output::name);
  if (found != outputs_.end()) return static_cast<std::size_t>(found - outputs_.begin());
  throw ConfigError(error_text("engine.plan", "output", "the name of a graph output", name, "logits"));
}

void PlanExecutable::require_training() const {
  if (options_.form == Form::Training) return;
  throw ConfigError(error_text("engine.plan", "backward pass", "a model compiled for training", "one for inference",
                               "compiling it for training"));
}

}  // namespace roentgen::engine
