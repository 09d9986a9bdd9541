// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Weights as they come: safetensors of any program, and PyTorch's .pt, .pth and .ckpt.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "train/checkpoint_info.h"
#include "train/weights.h"

namespace roentgen::train {

/// Contents of a file, under its own names.
struct WeightsFile {
  std::vector<NamedTensor> tensors;      ///< floats, with their names in the file
  std::optional<CheckpointInfo> info{};  ///< metadata of a checkpoint of ours
  /// torchxrayvision's, by the class of a pickled model or by its "op_threshs", which are no part of `tensors`.
  bool is_torchxrayvision = false;
  /// Names of its outputs, where it states them or is torchxrayvision's; "" for an output that means nothing.
  std::vector<std::string> labels{};
  std::vector<std::string> notes{};  ///< parts of the file that are left out, a line each
  std::string what;                  ///< file name, for errors
};

/// Reads a file, whatever its name. Integers and optimizer state are left out. ConfigError as
/// io::SafetensorsReader::open(), io::read_torch_file() and from_metadata().
[[nodiscard]] WeightsFile read_weights_file(const std::filesystem::path& path);

/// The 18 findings that torchxrayvision's networks have as outputs, in their order.
[[nodiscard]] const std::vector<std::string>& torchxrayvision_labels();

}  // namespace roentgen::train
