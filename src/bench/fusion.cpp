// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/fusion.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>

#include "bench/harness.h"
#include "bench/model_run.h"
#include "bench/rounds.h"
#include "bench/step_model.h"
#include "engine/engine.h"
#include "graph/passes/pass_list.h"
#include "models/model.h"
#include "runtime/cores.h"

namespace roentgen::bench {
namespace {

using engine::Form;

// "off", every pass that does something on its own, "on", and in training "on" without each fusion that it has: what a
// fusion saves depends on the passes before it.
std::vector<std::unique_ptr<ModelRun>> arms_of(const StepOptions& network, Form form, engine::Engine& engine) {
  std::vector<std::unique_ptr<ModelRun>> arms;
  const auto with = [&](std::string_view fuse) {
    StepOptions options = network;
    options.fuse = fuse;
    return options;
  };
  const auto hash_of = [&](std::string_view fuse) {
    return form == Form::Training ? plan_step(with(fuse), engine, {.threads = network.threads, .slots = 1}).hash()
                                  : plan_inference(with(fuse), engine, network.threads).hash();
  };
  const auto add = [&](std::string_view fuse) { arms.push_back(std::make_unique<ModelRun>(with(fuse), form, engine)); };
  // Only what changes something is made: all of them are held at a time.
  const auto add_unless = [&](std::string_view fuse, const std::string& unchanged) {
    if (hash_of(fuse) != unchanged) add(fuse);
  };
  add("off");
  const std::string unchanged = arms.front()->plan().hash();
  for (const std::string_view pass : form == Form::Training ? graph::training_pass_names() : graph::pass_names()) {
    add_unless(pass, unchanged);
  }
  add("on");
  const std::string all = arms.back()->plan().hash();
  for (const std::string_view fusion : graph::fusion_names()) {
    if (form == Form::Inference) break;
    add_unless(fmt::format("on,-{}", fusion), all);
  }
  return arms;
}

void measure_model(const StepOptions& network, const FusionOptions& options, Form form, engine::Engine& engine,
                   Value& rows, Value& warnings) {
  const std::vector<std::unique_ptr<ModelRun>> arms = arms_of(network, form, engine);
  const auto seconds = interleave(arms.size(), options.rounds, [&](std::size_t arm) { return arms[arm]->run(); });
  const auto median = [](const std::vector<double>& times) { return summarise(times).median; };
  const auto off_bytes = static_cast<double>(arms.front()->plan().memory.activations);
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    std::vector<double> all, gains;
    for (std::size_t round = 0; round < seconds[arm].size(); ++round) {
      const std::vector<double>& times = seconds[arm][round];
      all.insert(all.end(), times.begin(), times.end());
      gains.push_back(median(seconds[0][round]) / median(times));
      if (auto sign =
              sign_of_spread(fmt::format("run of {} with {}", network.model, arms[arm]->options().fuse), times)) {
        warnings.push_back(std::move(*sign));
      }
    }
    const engine::Plan& plan = arms[arm]->plan();
    rows.push_back(Value::Table{{"model", network.model},
                                {"fuse", arms[arm]->options().fuse},
                                {"step_ms", median(all) * 1e3},
                                {"gain", median(gains)},
                                {"activation_bytes", plan.memory.activations},
                                {"of_off", static_cast<double>(plan.memory.activations) / off_bytes},
                                {"entries", std::ssize(plan.entries)}});
  }
}

// All of them before anything is measured: a name or size that is refused costs no time.
std::vector<graph::Graph> graphs_of(const FusionOptions& options) {
  std::vector<graph::Graph> graphs;
  for (const std::string& model : options.models) {
    graphs.push_back(models::build_model({.name = model,
                                          .labels = options.network.labels,
                                          .channels = options.network.channels,
                                          .image_px = options.network.image_px,
                                          .batch = options.network.batch,
                                          .auxiliary = false}));
  }
  return graphs;
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
  const std::vector<graph::Graph> graphs = graphs_of(options);
  const std::unique_ptr<engine::Engine> engine = engine::make_engine(network.device);
  Value passes = Value::array(), fusions = Value::array(), training = Value::array(), inference = Value::array(),
        warnings = Value::array();
  for (const std::string_view pass : graph::pass_names()) passes.push_back(std::string(pass));
  for (const std::string_view fusion : graph::fusion_names()) fusions.push_back(std::string(fusion));
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    network.model = options.models[i];
    network.graph = &graphs[i];
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
                              {"fusions", std::move(fusions)},
                              {"training", std::move(training)},
                              {"inference", std::move(inference)},
                              {"warnings", std::move(warnings)}};
  result.set("engine", engine->description());
  add_environment(result);
  return result;
}

}  // namespace roentgen::bench
