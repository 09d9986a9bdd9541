// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// inspect --plan: what training would take and by which kernels, without training. For inspect.cpp.
#pragma once

#include <string>

#include "cli/command.h"
#include "task/model.h"

namespace roentgen::train {
struct Recipe;
}

namespace roentgen::cli {

/// Plans training (and validation, which is held beside it) by the recipe's engine, threads, fuse, algorithms,
/// recompute, slots and optimizer, and prints it. The table:
///   model, batch, image_px, channels, labels, threads, algorithms, dtype, recompute, plan_hash
///   peak_bytes   as train tells before its first step; of it activations_bytes (and of these threads_scratch_bytes),
///                optimizer_bytes, validation_bytes
///   input_bytes  what train.memory_mb grants to input beside that; null where the recipe leaves it open
///   fuse         the recipe's choice of passes and fusions
///   fused        [{name, kind, times}]: what each did; kind "pass": nodes changed, "fusion": places where it is made
///   choices      [{name, algorithm, kernel, layout}]: every convolution's pass, by which kernel, and the layout of
///                what it makes
/// @param is_shaped batch, image and channels are those of `shape`, not of the recipe
[[nodiscard]] CommandResult inspect_plan(const train::Recipe& recipe, const std::string& model, task::ModelShape shape,
                                         bool is_shaped);

}  // namespace roentgen::cli
