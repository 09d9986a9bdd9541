// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/fusion.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>

#include "bench/case_list.h"
#include "bench/harness.h"
#include "bench/model_run.h"
#include "bench/options.h"
#include "bench/rounds.h"
#include "engine/engine.h"
#include "graph/passes/pass_list.h"
#include "models/model.h"

namespace roentgen::bench {
namespace {

using engine::Form;

// Compiled networks to compare: "off", every useful pass on its own, "on", and in training "on" without each of its
// fusions. The last kind shows the gain of a fusion in combination with all others, which differs from its gain alone.
std::vector<std::unique_ptr<ModelRun>> arms_of(const NetworkOptions& network, Form form, engine::Engine& engine) {
  std::vector<std::unique_ptr<ModelRun>> arms;
  const auto with = [&](std::string_view fuse) {
    NetworkOptions options = network;
    options.fuse = fuse;
    return options;
  };
  const auto hash_of = [&](std::string_view fuse) {
    return form == Form::Training ? plan_step(with(fuse), engine, {.threads = network.threads, .slots = 1}).hash()
                                  : plan_inference(with(fuse), engine, network.threads).hash();
  };
  const auto add = [&](std::string_view fuse) { arms.push_back(std::make_unique<ModelRun>(with(fuse), form, engine)); };
  // Skips a network whose plan has the hash `unchanged`, to save memory: all networks are in memory at the same time.
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

void measure_model(const NetworkOptions& network, const FusionOptions& options, Form form, engine::Engine& engine,
                   Value& rows, Value& warnings) {
  const std::vector<std::unique_ptr<ModelRun>> arms = arms_of(network, form, engine);
  const auto seconds = interleave(arms.size(), options.rounds, [&](std::size_t arm) { return arms[arm]->run(); });
  const auto off_bytes = static_cast<double>(arms.front()->plan().memory.activations);
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    const std::string& fuse = arms[arm]->options().fuse;
    for (const std::vector<double>& round : seconds[arm]) {
      if (auto sign = sign_of_spread(fmt::format("run of {} with {}", network.model, fuse), round)) {
        warnings.push_back(std::move(*sign));
      }
    }
    const engine::Plan& plan = arms[arm]->plan();
    rows.push_back(Value::Table{{"model", network.model},
                                {"fuse", fuse},
                                {"step_ms", median(all_of(seconds[arm])) * 1e3},
                                {"gain", median_ratio(seconds[0], seconds[arm], median)},
                                {"activation_bytes", plan.memory.activations},
                                {"of_off", static_cast<double>(plan.memory.activations) / off_bytes},
                                {"entries", std::ssize(plan.entries)}});
  }
}

// Builds all graphs before measuring, so that an invalid name or size is reported at once.
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
  require_at_least("models", std::ssize(options.models), 1);
  require_at_least("rounds", options.rounds, 1);
  NetworkOptions network = checked(options.network);
  const std::vector<graph::Graph> graphs = graphs_of(options);
  const std::unique_ptr<engine::Engine> engine = engine::make_engine(network.device);
  Value passes = Value::array(), fusions = Value::array(), training = Value::array(), inference = Value::array(),
        warnings = Value::array();
  for (const std::string_view pass : graph::pass_names()) passes.push_back(std::string(pass));
  for (const std::string_view fusion : graph::fusion_names()) fusions.push_back(std::string(fusion));
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    network.model = options.models[i];
    network.graph = graphs[i];
    measure_model(network, options, Form::Training, *engine, training, warnings);
    measure_model(network, options, Form::Inference, *engine, inference, warnings);
  }
  Value result = settings_of(
      "fusion", network, {"batch", "image_px", "channels", "labels", "threads", "device", "algorithms", "warmup", "n"});
  result.set("rounds", options.rounds);
  result.set("passes", std::move(passes));
  result.set("fusions", std::move(fusions));
  result.set("training", std::move(training));
  result.set("inference", std::move(inference));
  result.set("warnings", std::move(warnings));
  result.set("engine", engine->description());
  add_environment(result);
  return result;
}

namespace {

class FusionCase final : public Case {
 public:
  FusionCase()
      : Case("time and memory saved by each graph pass and fusion, in training and inference",
             "roentgen bench fusion --models resnet50,densenet121 --batch 8 --rounds 3 --threads 2") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({sizes_.options({"--batch", "--image", "--channels", "--warmup", "--steps"}),
                   network_.options({"--models", "--labels", "--device", "--threads", "--oversubscribe", "--algorithms",
                                     "--dtype", "--recompute"}),
                   {rounds_option(rounds_)}});
  }
  [[nodiscard]] Value run(const Host& /*host*/) override {
    FusionOptions options{.network = network_.checked(sizes_), .rounds = rounds_};
    if (!network_.models.empty()) options.models = names_in(network_.models);
    return run_fusion(options);
  }

 private:
  SizeArguments sizes_;
  NetworkArguments network_;
  std::int64_t rounds_ = 3;
};

}  // namespace

std::unique_ptr<Case> make_fusion_case() { return std::make_unique<FusionCase>(); }

}  // namespace roentgen::bench
