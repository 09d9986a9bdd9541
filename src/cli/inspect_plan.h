// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// inspect --plan: shows the memory and kernels that training would use, without training. Only for inspect.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.h"
#include "task/model.h"

namespace roentgen::train {
struct Recipe;
}

namespace roentgen::cli {

/// Settings of a plan report that change or add to the recipe.
struct PlanRequest {
  /// Name or file of a model; empty: the recipe's model.
  std::string model;
  /// Batch size, channels and number of labels. Image sides are in `sides_px`.
  task::ModelShape shape{};
  /// True if batch size, channels and sides of this struct replace those of the recipe.
  bool is_shaped = false;
  /// Image sides in px to plan; 0: the model's default side. Empty: the recipe's side, or else the model's default
  /// side.
  std::vector<std::int64_t> sides_px{};
  /// GPU to plan for, such as "h100" (engine::make_planner()); empty: the GPU of this machine.
  std::string card{};
};

/// Parses a list such as "224,512" of numbers from 0 to 65536. Throws ConfigError for any other text.
[[nodiscard]] std::vector<std::int64_t> parse_sides(const std::string& text);

/// Plans training, and validation, which is in memory at the same time, and prints the plan. It uses the recipe's
/// engine, threads, fuse, algorithms, recompute, slots and optimizer. Returns a table:
///   model, batch, image_px, channels, labels, device, threads, algorithms, dtype, recompute, plan_hash
///   peak_bytes   peak that train logs before its first step: activations_bytes (of which threads_scratch_bytes),
///                parameters_bytes, gradients_bytes, optimizer_bytes, validation_bytes
///   input_bytes  memory that train.memory_mb leaves for input; null if the recipe does not set it
///   memory       [{image_px, recompute, activations_bytes, peak_bytes}]: without and with recomputation of all values
///   fuse         the recipe's choice of passes and fusions
///   fused        [{name, kind, times}]: times: nodes that a "pass" changed, or fusions of a kind that were made
///   choices      [{name, algorithm, kernel, layout}]: algorithm, kernel and result layout of each pass of each
///                convolution
///   norm_roles   [{name, role}]: see engine::role_table()
///   entries      [{name, kind, implementation, flops, bytes}] of a training step; only in the JSON file
/// With several sides, the table has model, device, memory and `plans`. `plans` has one table per side and appears only
/// in the JSON file.
[[nodiscard]] CommandResult inspect_plan(const train::Recipe& recipe, const PlanRequest& request);

}  // namespace roentgen::cli
