// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Loads a checkpoint and compiles its model for eval, predict and export.
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

/// Contents of a checkpoint file: a network, its weights, and the definition of its input and outputs.
struct Checkpoint {
  CheckpointInfo info;               ///< metadata
  std::vector<NamedTensor> tensors;  ///< weights
  std::string what;                  ///< file name, for errors
};

/// Options of load_checkpoint().
struct LoadOptions {
  std::int64_t batch = 32;  ///< number of images in a batch
  /// Number of compute threads; 0: all cores.
  int threads = 0;
  /// Value of engine::CompileOptions::algorithms.
  std::string algorithms = "auto";
  /// Value of engine::CompileOptions::dtype. Inference on the CPU has only f32.
  std::string dtype = "f32";
  Strictness strictness = Strictness::Strict;  ///< whether missing or unexpected tensors are errors
  /// True if heat maps are needed.
  bool has_heatmaps = false;
  /// Ranks that load the checkpoint together and must choose the same kernels; null: only this process.
  const Ranks* ranks = nullptr;
};

/// A model compiled for inference, with the definition of its input.
struct LoadedModel {
  CheckpointInfo info;                             ///< metadata of the file
  data::Preprocess preprocess;                     ///< definition of the network's input
  std::unique_ptr<engine::Executable> executable;  ///< network compiled for inference, with the weights loaded
  /// Feature map and weights for HeatMapper; set only with LoadOptions::has_heatmaps.
  std::optional<HeatHead> heat;
  /// Tensors that a non-strict load skipped.
  LoadReport report;
};

/// Loads best.safetensors or resume.safetensors. Throws ConfigError, which names the file, if it is absent, truncated
/// or no checkpoint, or a tensor is missing, unexpected or has a wrong shape. Throws ConfigError for a dtype in
/// which the engine does not infer. With has_heatmaps, also throws like find_heat_head().
[[nodiscard]] LoadedModel load_checkpoint(const std::filesystem::path& path, engine::Engine& engine,
                                          const LoadOptions& options);
/// Compiles a checkpoint that was read before. Throws like the overload for a path.
[[nodiscard]] LoadedModel load_checkpoint(const Checkpoint& checkpoint, engine::Engine& engine,
                                          const LoadOptions& options);

/// Throws ConfigError if there is no file at `path`. Its text tells a wrong path from a run that stopped before its
/// first epoch ended.
void require_checkpoint(const std::filesystem::path& path);

/// Reads best.safetensors or resume.safetensors. Throws ConfigError, which names the file, if it is absent, truncated
/// or no checkpoint.
[[nodiscard]] Checkpoint read_checkpoint(const std::filesystem::path& path);

}  // namespace roentgen::train
