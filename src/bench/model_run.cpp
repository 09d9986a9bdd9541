// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/model_run.h"

#include <cmath>
#include <string>

#include "bench/harness.h"
#include "core/error.h"

namespace roentgen::bench {

ModelRun::ModelRun(const NetworkOptions& options, engine::Form form, engine::Engine& engine)
    : options_(options),
      executable_(form == engine::Form::Training
                      ? compile_step(options, engine, {.threads = options.threads, .slots = 1})
                      : compile_inference(options, engine, options.threads)) {
  if (form == engine::Form::Training) training_.emplace(*executable_);
}

std::vector<double> ModelRun::run() {
  std::vector<double> seconds;
  for (std::int64_t i = 0; i < options_.warmup + options_.steps; ++i) {
    if (i == options_.warmup) executable_->reset_profile();
    const auto begin = Clock::now();
    if (training_) {
      training_->run();
      static_cast<void>(training_->loss());  // waits for the device
    } else {
      executable_->forward();
      // Sends the next batch to the device while the current step runs.
      executable_->bind_slot(0);
      static_cast<void>(executable_->read("logits"));
    }
    if (i >= options_.warmup) seconds.push_back(seconds_since(begin));
  }
  for (const float value : executable_->read(training_ ? "loss" : "logits")) {
    if (std::isfinite(value)) continue;
    throw DataError(error_text("bench.run", options_.model + " with passes " + options_.fuse, "finite results",
                               std::to_string(value), "bench step --fuse off, to see whether a graph pass is wrong"));
  }
  return seconds;
}

}  // namespace roentgen::bench
