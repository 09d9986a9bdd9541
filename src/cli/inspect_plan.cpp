// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/inspect_plan.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/arguments.h"
#include "cli/report_text.h"
#include "core/comma_list.h"
#include "core/terminal.h"
#include "engine/engine.h"
#include "engine/plan_table.h"
#include "graph/loss.h"
#include "train/choice_file.h"
#include "train/optimizer/optimizer.h"
#include "train/predict.h"
#include "train/ranks.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

// Plans one network with one batch size for images of any side length.
class Planner {
 public:
  Planner(const train::Recipe& recipe, const PlanRequest& request)
      : recipe_(recipe),
        network_(recipe.model),
        shape_(request.shape),
        engine_(engine::make_planner(recipe.train.device, request.card)),
        threads_(train::compute_threads(recipe.train)) {
    if (!request.model.empty()) task::set_model(network_, request.model);
    if (!request.is_shaped) {
      shape_.batch = recipe.train.batch;
      shape_.image_px = recipe.preprocess.size_px;
      shape_.channels = recipe.preprocess.channels;
    }
    if (recipe.train.choices.empty()) return;
    train::require_rule(recipe.train);
    measured_ = train::shared_choice_file(train::Ranks(nullptr), recipe.train.choices).algorithms;
  }

  [[nodiscard]] const engine::Engine& engine() const { return *engine_; }

  /// Returns the side of the images in px: `asked`, or the recipe's or model's side if `asked` is 0 or nullopt.
  [[nodiscard]] std::int64_t side_px(std::optional<std::int64_t> asked) const {
    const std::int64_t side = asked.value_or(shape_.image_px);
    return side > 0 ? side : task::own_image_px(network_);
  }

  /// Returns the rows of the report's table `memory` for images of one side length.
  [[nodiscard]] Value::Array memory(std::int64_t side_px) const {
    Value::Array rows;
    for (const char* const recompute : {"none", "all"}) {
      const Planned planned = plan(side_px, recompute);
      rows.push_back(Value::Table{{"image_px", side_px},
                                  {"recompute", recompute},
                                  {"activations_bytes", planned.training.memory.activations},
                                  {"peak_bytes", planned.peak_bytes}});
    }
    return rows;
  }

  /// Report for images of one side length.
  struct Report {
    Value table;    ///< all keys except `memory` and `entries`
    Value entries;  ///< too many rows to print
  };
  [[nodiscard]] Report report(std::int64_t side_px) const {
    const Planned planned = plan(side_px, recipe_.train.recompute);
    const engine::Plan& training = planned.training;
    if (!measured_.empty()) train::tell_of_measured(training, recipe_.train.choices);
    const std::int64_t memory_mb = recipe_.train.memory_mb;
    Value::Table table{{"model", planned.graph.name()},
                       {"batch", shape_.batch},
                       {"image_px", side_px},
                       {"channels", shape_.channels},
                       {"labels", shape_.labels},
                       {"device", engine_->description()},
                       {"threads", threads_},
                       {"algorithms", recipe_.train.algorithms},
                       {"dtype", training.dtype()},
                       {"recompute", recipe_.train.recompute},
                       {"plan_hash", training.hash()},
                       {"peak_bytes", planned.peak_bytes},
                       {"activations_bytes", training.memory.activations},
                       {"threads_scratch_bytes", training.memory.workspace},
                       {"parameters_bytes", training.memory.parameters},
                       {"gradients_bytes", training.memory.gradients},
                       {"optimizer_bytes", planned.optimizer_bytes},
                       {"validation_bytes", planned.validation_bytes},
                       {"input_bytes", memory_mb > 0 ? Value(memory_mb << 20) : Value()},
                       {"fuse", recipe_.train.fuse},
                       {"fused", engine::effect_table(planned.graph, recipe_.train.fuse, training)},
                       {"choices", engine::choice_table(training)},
                       {"norm_roles", engine::role_table(training)}};
    return {.table = std::move(table), .entries = engine::entry_table(training)};
  }

 private:
  struct Planned {
    graph::Graph graph;
    engine::Plan training;
    std::size_t optimizer_bytes = 0, validation_bytes = 0, peak_bytes = 0;
  };

  // Returns the input normalisation for planning, with as many channels as the plan. The values do not matter, because
  // plans do not depend on them.
  [[nodiscard]] std::optional<engine::InputNorm> input_norm() const {
    auto norm = train::input_norm(recipe_.preprocess, *engine_);
    const auto channels = static_cast<std::size_t>(shape_.channels);
    if (norm) {
      norm->mean.resize(channels, 0.0);
      norm->stddev.resize(channels, 1.0);
    }
    return norm;
  }

  [[nodiscard]] Planned plan(std::int64_t side_px, const std::string& recompute) const {
    constexpr int kMostSlots = 8;
    const train::TrainRecipe& train = recipe_.train;
    task::ModelShape shape = shape_;
    shape.image_px = side_px;
    Planned made{.graph = graph::with_loss(task::make_model(network_, shape), {}), .training = {}};
    engine::CompileOptions options{.threads = threads_,
                                   .slots = train.slots > 0 ? static_cast<int>(train.slots) : kMostSlots,
                                   .input_norm = input_norm(),
                                   .fuse = train.fuse,
                                   .algorithms = engine::parse_algorithms(train.algorithms),
                                   .dtype = engine::parse_dtype(train.dtype),
                                   .recompute = recompute};
    options.choice.measured = measured_;
    made.training = engine_->plan(made.graph, options);
    options = {.form = engine::Form::Inference,
               .threads = threads_,
               .input_norm = options.input_norm,
               .fuse = train.fuse,
               .algorithms = options.algorithms};
    made.validation_bytes = engine_->plan(made.graph, options).memory.total();
    const engine::MemoryReport& memory = made.training.memory;
    const std::size_t arenas = memory.parameters;
    const engine::UpdateRule rule = train::optimizer_rule(recipe_.optimizer.name, recipe_.optimizer.rules);
    made.optimizer_bytes = arenas * engine::state_of(rule).size();
    const std::size_t sums_bytes = train.accumulate > 1 ? arenas : 0;
    const std::size_t averages_bytes = train.ema > 0.0 ? arenas + memory.state : 0;
    made.peak_bytes = memory.total() + made.optimizer_bytes + sums_bytes + averages_bytes + made.validation_bytes;
    return made;
  }

  const train::Recipe& recipe_;
  train::ModelRecipe network_;
  task::ModelShape shape_;
  std::unique_ptr<engine::Engine> engine_;
  int threads_;
  std::map<std::string, std::string> measured_;
};

}  // namespace

std::vector<std::int64_t> parse_sides(const std::string& text) {
  constexpr std::int64_t kMost = 65536;
  std::vector<std::int64_t> sides;
  for (const std::string_view part : comma_parts(text)) {
    std::int64_t side = -1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), side);
    if (error != std::errc{} || end != part.data() + part.size() || side < 0 || side > kMost) {
      refuse_arguments("inspect --image", "numbers from 0 to 65536, separated by commas", text, "--image 224,512");
    }
    sides.push_back(side);
  }
  return sides;
}

CommandResult inspect_plan(const train::Recipe& recipe, const PlanRequest& request) {
  const Planner planner(recipe, request);
  if (request.sides_px.size() <= 1) {
    const std::int64_t side =
        planner.side_px(request.sides_px.empty() ? std::nullopt : std::optional(request.sides_px[0]));
    auto [table, entries] = planner.report(side);
    Value json = std::move(table);
    json.set("memory", planner.memory(side));
    terminal::print(report_text(json));
    json.set("entries", std::move(entries));
    return {.json = std::move(json)};
  }
  Value::Array plans, memory;
  for (const std::int64_t asked : request.sides_px) {
    const std::int64_t side = planner.side_px(asked);
    auto [table, entries] = planner.report(side);
    Value& plan = plans.emplace_back(std::move(table));
    plan.set("entries", std::move(entries));
    for (Value& row : planner.memory(side)) memory.push_back(std::move(row));
  }
  Value json = Value::Table{{"model", plans[0].at("model")},
                            {"batch", plans[0].at("batch")},
                            {"dtype", plans[0].at("dtype")},
                            {"device", plans[0].at("device")},
                            {"memory", std::move(memory)}};
  terminal::print(report_text(json));
  json.set("plans", std::move(plans));
  return {.json = std::move(json)};
}

}  // namespace roentgen::cli
