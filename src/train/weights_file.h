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

/// Contents of a weights file, with the names that the file uses.
struct WeightsFile {
  std::vector<NamedTensor> tensors;      ///< floating-point tensors, with their names in the file
  std::optional<CheckpointInfo> info{};  ///< metadata, if it is a checkpoint of Roentgen
  /// True for weights of torchxrayvision. They are recognised by the class name in a pickled model or by the tensor
  /// "op_threshs", which `tensors` omits.
  bool is_torchxrayvision = false;
  /// Labels of the outputs, if the file states them or comes from torchxrayvision; "" for an unused output.
  std::vector<std::string> labels{};
  std::vector<std::string> notes{};  ///< parts of the file that are not used, one line each
  std::string what;                  ///< file name, for errors
};

/// Reads a weights file. The format is recognised by the content, not the name. Omits integer tensors and optimizer
/// state. Throws ConfigError as io::SafetensorsReader::open(), io::read_torch_file() and from_metadata() do.
[[nodiscard]] WeightsFile read_weights_file(const std::filesystem::path& path);

/// The 18 findings that torchxrayvision's networks predict, in the order of their outputs.
[[nodiscard]] const std::vector<std::string>& torchxrayvision_labels();

}  // namespace roentgen::train
