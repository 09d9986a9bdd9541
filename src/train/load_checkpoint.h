// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Loads a checkpoint as an executable model, for eval, predict and export.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/transform/preprocess.h"
#include "train/checkpoint_info.h"
#include "train/heat_head.h"
#include "train/weights.h"

namespace roentgen::engine {
class Engine;
class Executable;
}  // namespace roentgen::engine

namespace roentgen::train {

class Ranks;

/// A network with its weights and the definition of its input and outputs.
struct Checkpoint {
  CheckpointInfo info;               ///< metadata
  std::vector<NamedTensor> tensors;  ///< weights
  std::string what;                  ///< file name, for errors
};

/// Options of load_checkpoint().
struct LoadOptions {
  std::int64_t batch = 32;  ///< images at a time
  /// 0 = all cores.
  int threads = 0;
  /// Value of engine::CompileOptions::algorithms.
  std::string algorithms = "auto";
  /// Value of engine::CompileOptions::dtype.
  std::string dtype = "f32";
  Strictness strictness = Strictness::Strict;  ///< treatment of tensors that do not fit
  /// Whether heat-maps are needed, too.
  bool has_heatmaps = false;
  /// Ranks that load the checkpoint together and choose the same kernels; null: this process alone.
  const Ranks* ranks = nullptr;
};

/// A model in inference form, with the definition of its input.
struct LoadedModel {
  CheckpointInfo info;                             ///< metadata of the file
  data::Preprocess preprocess;                     ///< definition of the network's input
  std::unique_ptr<engine::Executable> executable;  ///< executable of inference form, with the weights
  /// Feature map and weights for HeatMapper; only with has_heatmaps.
  std::optional<HeatHead> heat;
  /// Tensors that a partial load left out.
  LoadReport report;
};

/// Opens best.safetensors or resume.safetensors. ConfigError naming the file: absent, cut short, no checkpoint, a
/// tensor that is missing, unexpected or of another shape; with has_heatmaps as find_heat_head().
[[nodiscard]] LoadedModel load_checkpoint(const std::filesystem::path& path, engine::Engine& engine,
                                          const LoadOptions& options);
/// Compiles a checkpoint in memory. Throws as the overload above.
[[nodiscard]] LoadedModel load_checkpoint(const Checkpoint& checkpoint, engine::Engine& engine,
                                          const LoadOptions& options);

/// Reads best.safetensors or resume.safetensors. ConfigError naming the file: absent, cut short, no checkpoint.
[[nodiscard]] Checkpoint read_checkpoint(const std::filesystem::path& path);

}  // namespace roentgen::train
