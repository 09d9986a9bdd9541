// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Weight files in any supported form: safetensors of any program, and PyTorch's .pt, .pth and .ckpt.
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
  /// True for weights of torchxrayvision, recognised by the class of a pickled model or by "op_threshs", which
  /// `tensors` omits.
  bool is_torchxrayvision = false;
  /// Names of the outputs, if the file states them or comes from torchxrayvision; "" for an output without meaning.
  std::vector<std::string> labels{};
  std::vector<std::string> notes{};  ///< parts of the file that are left out, a line each
  std::string what;                  ///< file name, for errors
};

/// Reads a file; its content decides the form, not its name. Omits integers and optimizer state. ConfigError as
/// io::SafetensorsReader::open(), io::read_torch_file() and from_metadata().
[[nodiscard]] WeightsFile read_weights_file(const std::filesystem::path& path);

/// The 18 findings that torchxrayvision's networks have as outputs, in their order.
[[nodiscard]] const std::vector<std::string>& torchxrayvision_labels();

}  // namespace roentgen::train
