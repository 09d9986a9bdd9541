// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string_view>

#include "bench/harness.h"
#include "bench/rounds.h"
#include "bench/step_model.h"
#include "core/error.h"
#include "engine/engine.h"
#include "graph/passes/pass_list.h"
#include "runtime/cores.h"
#include "train/optimizer/optimizer.h"

namespace roentgen::bench {
namespace {

using Clock = std::chrono::steady_clock;
using engine::Form;

// A network compiled with some passes, and what a step of it is.
class Arm {
 public:
  Arm(const StepOptions& options, Form form, engine::Engine& engine)
      : options_(options),
        executable_(form == Form::Training ? compile_step(options, engine, {.threads = options.threads, .slots = 1})
                                           : compile_inference(options, engine, options.threads)) {
    if (form != Form::Training) return;
    const std::int64_t count = std::ssize(executable_->parameters());
    optimizer_ = train::make_optimizer("sgd", {.momentum = 0.9, .threads = options.threads}, count);
    ranges_ = {{.begin = 0, .count = count, .weight_decay = 1e-4}};
  }

  [[nodiscard]] const engine::Plan& plan() const { return executable_->plan(); }
  [[nodiscard]] const std::string& fuse() const { return options_.fuse; }

  // Seconds of each measured step.
  [[nodiscard]] std::vector<double> run() {
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

 private:
  void step() {
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
  void require_finite() const {
    for (const float value : executable_->output(optimizer_ != nullptr ? "loss" : "logits")) {
      if (std::isfinite(value)) continue;
      throw DataError(error_text("bench.fusion", options_.model + " with passes " + options_.fuse, "finite results",
                                 std::to_string(value),
                                 "bench step --fuse off, which shows whether a pass is at fault"));
    }
  }

  StepOptions options_;
  std::unique_ptr<engine::Executable> executable_;
  std::unique_ptr<train::Optimizer> optimizer_;
  std::vector<train::UpdateRange> ranges_;
  std::int64_t done_ = 0;
};

// "off", every pass that does something on its own, "on".
std::vector<std::unique_ptr<Arm>> arms_of(const StepOptions& network, Form form, engine::Engine& engine) {
  std::vector<std::unique_ptr<Arm>> arms;
  const auto add = [&](std::string_view fuse) {
    StepOptions options = network;
    options.fuse = fuse;
    arms.push_back(std::make_unique<Arm>(options, form, engine));
  };
  add("off");
  const std::string unchanged = arms.front()->plan().hash();
  for (const std::string_view pass : form == Form::Training ? graph::training_pass_names() : graph::pass_names()) {
    add(pass);
    if (arms.back()->plan().hash() == unchanged) arms.pop_back();
  }
  add("on");
  return arms;
}

void measure_model(const StepOptions& network, const FusionOptions& options, Form form, engine::Engine& engine,
                   Value& rows, Value& warnings) {
  const std::vector<std::unique_ptr<Arm>> arms = arms_of(network, form, engine);
  const auto seconds = interleave(arms.size(), options.rounds, [&](std::size_t arm) { return arms[arm]->run(); });
  const auto median = [](const std::vector<double>& times) { return summarise(times).median; };
  const auto off_bytes = static_cast<double>(arms.front()->plan().memory.activations);
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    std::vector<double> all, gains;
    for (std::size_t round = 0; round < seconds[arm].size(); ++round) {
      const std::vector<double>& times = seconds[arm][round];
      all.insert(all.end(), times.begin(), times.end());
      gains.push_back(median(seconds[0][round]) / median(times));
      if (auto sign = sign_of_spread(fmt::format("run of {} with {}", network.model, arms[arm]->fuse()), times)) {
        warnings.push_back(std::move(*sign));
      }
    }
    const engine::Plan& plan = arms[arm]->plan();
    rows.push_back(Value::Table{{"model", network.model},
                                {"fuse", arms[arm]->fuse()},
                                {"step_ms", median(all) * 1e3},
                                {"gain", median(gains)},
                                {"activation_bytes", plan.memory.activations},
                                {"of_off", static_cast<double>(plan.memory.activations) / off_bytes},
                                {"entries", std::ssize(plan.entries)}});
  }
}

}  // namespace

Value run_fusion(const FusionOptions& options) {
  StepOptions network = options.network;
  require_at_least("models", std::ssize(options.models), 1);
  require_at_least("warmup", network.warmup, 0);
  require_at_least("steps", network.steps, 1);
  require_at_least("threads", network.threads, 0);
  require_at_least("rounds", options.rounds, 1);
  if (network.threads == 0) network.threads = runtime::default_compute_threads();
  network.graph = nullptr;
  const std::unique_ptr<engine::Engine> engine = engine::make_engine(network.device);
  Value passes = Value::array(), training = Value::array(), inference = Value::array(), warnings = Value::array();
  for (const std::string_view pass : graph::pass_names()) passes.push_back(std::string(pass));
  for (const std::string& model : options.models) {
    network.model = model;
    measure_model(network, options, Form::Training, *engine, training, warnings);
    measure_model(network, options, Form::Inference, *engine, inference, warnings);
  }
  Value result = Value::Table{{"case", "fusion"},
                              {"batch", network.batch},
                              {"image_px", network.image_px},
                              {"channels", network.channels},
                              {"labels", network.labels},
                              {"threads", network.threads},
                              {"device", network.device},
                              {"algorithms", network.algorithms},
                              {"warmup", network.warmup},
                              {"n", network.steps},
                              {"rounds", options.rounds},
                              {"passes", std::move(passes)},
                              {"training", std::move(training)},
                              {"inference", std::move(inference)},
                              {"warnings", std::move(warnings)}};
  result.set("engine", engine->description());
  add_environment(result);
  return result;
}

}  // namespace roentgen::bench
