// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// inspect --plan: what training would take and by which kernels, without training. For inspect.cpp.
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

/// Subject of a plan report, beside the recipe.
struct PlanRequest {
  /// Name or file of a model; empty: the recipe's.
  std::string model;
  /// Batch, channels and labels; the image's side is in `sides_px`.
  task::ModelShape shape{};
  /// Batch, channels and sides are those here, not those of the recipe.
  bool is_shaped = false;
  /// Sides of images in px, each of which is planned; 0: the model's own. Empty: the recipe's, or the model's own.
  std::vector<std::int64_t> sides_px{};
  /// Described card (engine::make_planner()); empty: this machine's.
  std::string card{};
};

/// "224,512" as numbers from 0 to 65536; ConfigError for another text.
[[nodiscard]] std::vector<std::int64_t> parse_sides(const std::string& text);

/// Plans training (and validation, which is held beside it) by the recipe's engine, threads, fuse, algorithms,
/// recompute, slots and optimizer, and prints it. The table:
///   model, batch, image_px, channels, labels, device, threads, algorithms, dtype, recompute, plan_hash
///   peak_bytes   as train tells before its first step; of it activations_bytes (and of these threads_scratch_bytes),
///                parameters_bytes, gradients_bytes, optimizer_bytes, validation_bytes
///   input_bytes  what train.memory_mb grants to input beside that; null where the recipe leaves it open
///   memory       [{image_px, recompute, activations_bytes, peak_bytes}]: with no value and with all values recomputed
///   fuse         the recipe's choice of passes and fusions
///   fused        [{name, kind, times}]: what each did; kind "pass": nodes changed, "fusion": places where it is made
///   choices      [{name, algorithm, kernel, layout}]: every convolution's pass, by which kernel, and the layout of
///                what it makes
/// With several sides: model, device and memory, and plans, one such table for each side, which only JSON has.
[[nodiscard]] CommandResult inspect_plan(const train::Recipe& recipe, const PlanRequest& request);

}  // namespace roentgen::cli
