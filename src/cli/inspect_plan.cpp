// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/inspect_plan.h"

#include <fmt/format.h>

#include <string>

#include "cli/report_text.h"
#include "core/terminal.h"
#include "engine/engine.h"
#include "engine/plan_table.h"
#include "graph/loss.h"
#include "train/choice_file.h"
#include "train/optimizer/optimizer.h"
#include "train/ranks.h"
#include "train/recipe.h"

namespace roentgen::cli {

CommandResult inspect_plan(const train::Recipe& recipe, const std::string& model, task::ModelShape shape,
                           bool is_shaped) {
  train::ModelRecipe network = recipe.model;
  if (!model.empty()) task::set_model(network, model);
  if (!is_shaped) {
    shape.batch = recipe.train.batch;
    shape.image_px = recipe.preprocess.size_px;
    shape.channels = recipe.preprocess.channels;
  }
  if (shape.image_px == 0) shape.image_px = task::own_image_px(network);
  const graph::Graph graph = graph::with_loss(task::make_model(network, shape), {});
  const auto engine = engine::make_engine(recipe.train.device);
  const int threads = train::compute_threads(recipe.train);
  constexpr int kMostSlots = 8;
  engine::CompileOptions options{.threads = threads,
                                 .slots = recipe.train.slots > 0 ? static_cast<int>(recipe.train.slots) : kMostSlots,
                                 .fuse = recipe.train.fuse,
                                 .algorithms = engine::parse_algorithms(recipe.train.algorithms),
                                 .dtype = engine::parse_dtype(recipe.train.dtype),
                                 .recompute = recipe.train.recompute};
  if (!recipe.train.choices.empty()) {
    train::require_rule(recipe.train);
    options.choice.measured = train::shared_choice_file(train::Ranks(nullptr), recipe.train.choices).algorithms;
  }
  const engine::Plan plan = engine->plan(graph, options);
  if (!options.choice.measured.empty()) train::tell_of_measured(plan, recipe.train.choices);
  options = {.form = engine::Form::Inference,
             .threads = threads,
             .fuse = recipe.train.fuse,
             .algorithms = engine::parse_algorithms(recipe.train.algorithms)};
  const std::size_t validation_bytes = engine->plan(graph, options).memory.total();
  const auto arenas = plan.memory.parameters;
  const engine::UpdateRule rule = train::optimizer_rule(recipe.optimizer.name, recipe.optimizer.rules);
  const std::size_t optimizer_bytes = arenas * engine::state_of(rule).size();
  const std::size_t sums_bytes = recipe.train.accumulate > 1 ? arenas : 0;
  const std::size_t averages_bytes = recipe.train.ema > 0.0 ? arenas + plan.memory.state : 0;
  Value json = Value::Table{
      {"model", graph.name()},
      {"batch", shape.batch},
      {"image_px", shape.image_px},
      {"channels", shape.channels},
      {"labels", shape.labels},
      {"threads", threads},
      {"algorithms", recipe.train.algorithms},
      {"dtype", plan.dtype()},
      {"recompute", recipe.train.recompute},
      {"plan_hash", plan.hash()},
      {"peak_bytes", plan.memory.total() + optimizer_bytes + sums_bytes + averages_bytes + validation_bytes},
      {"activations_bytes", plan.memory.activations},
      {"threads_scratch_bytes", plan.memory.workspace},
      {"optimizer_bytes", optimizer_bytes},
      {"validation_bytes", validation_bytes},
      {"input_bytes", recipe.train.memory_mb > 0 ? Value(recipe.train.memory_mb << 20) : Value()},
      {"fuse", recipe.train.fuse},
      {"fused", engine::effect_table(graph, recipe.train.fuse, plan)},
      {"choices", engine::choice_table(plan)},
      {"norm_roles", engine::role_table(plan)}};
  terminal::print(report_text(json));
  return {.json = std::move(json)};
}

}  // namespace roentgen::cli
