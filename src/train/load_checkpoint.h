// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A checkpoint as a model that runs: for eval, and later predict and export.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "data/transform/preprocess.h"
#include "train/checkpoint_info.h"
#include "train/weights.h"

namespace roentgen::engine {
class Engine;
class Executable;
}  // namespace roentgen::engine

namespace roentgen::train {

/// How load_checkpoint() compiles.
struct LoadOptions {
  std::int64_t batch = 32;
  /// 0 = all cores.
  int threads = 0;
  Strictness strictness = Strictness::Strict;
};

/// A model in inference form, with the one definition of its input.
struct LoadedModel {
  CheckpointInfo info;
  data::Preprocess preprocess;
  std::unique_ptr<engine::Executable> executable;
  /// What a partial load left out.
  LoadReport report;
};

/// Opens best.safetensors or resume.safetensors. ConfigError naming the file: absent, cut short, no checkpoint, a
/// tensor that is missing, unexpected or of another shape.
[[nodiscard]] LoadedModel load_checkpoint(const std::filesystem::path& path, engine::Engine& engine,
                                          const LoadOptions& options);

}  // namespace roentgen::train
