// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/model_run.h"

#include <chrono>
#include <cmath>
#include <string>

#include "bench/step_model.h"
#include "core/error.h"

namespace roentgen::bench {
namespace {
using Clock = std::chrono::steady_clock;
}  // namespace

ModelRun::ModelRun(const StepOptions& options, engine::Form form, engine::Engine& engine)
    : options_(options),
      executable_(form == engine::Form::Training
                      ? compile_step(options, engine, {.threads = options.threads, .slots = 1})
                      : compile_inference(options, engine, options.threads)) {
  if (form != engine::Form::Training) return;
  const std::int64_t count = std::ssize(executable_->parameters());
  optimizer_ = train::make_optimizer("sgd", {.momentum = 0.9, .threads = options.threads}, count);
  ranges_ = {{.begin = 0, .count = count, .weight_decay = 1e-4}};
}

std::vector<double> ModelRun::run() {
  std::vector<double> seconds;
  for (std::int64_t i = 0; i < options_.warmup + options_.steps; ++i) {
    const auto start = Clock::now();
    step();
    const double taken_s = std::chrono::duration<double>(Clock::now() - start).count();
    if (i >= options_.warmup) seconds.push_back(taken_s);
  }
  require_finite();
  return seconds;
}

void ModelRun::step() {
  executable_->set_step(done_);
  executable_->forward();
  if (optimizer_ == nullptr) return;
  executable_->backward([](std::int64_t) {});
  optimizer_->apply({.parameters = executable_->parameters(),
                     .gradients = executable_->gradients(),
                     .ranges = ranges_,
                     .lr = 1e-4,
                     .step = ++done_});
}

void ModelRun::require_finite() const {
  for (const float value : executable_->output(optimizer_ != nullptr ? "loss" : "logits")) {
    if (std::isfinite(value)) continue;
    throw DataError(error_text("bench.run", options_.model + " with passes " + options_.fuse, "finite results",
                               std::to_string(value), "bench step --fuse off, which shows whether a pass is at fault"));
  }
}

}  // namespace roentgen::bench
