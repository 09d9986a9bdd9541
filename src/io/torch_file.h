// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tensors of PyTorch's files (.pt, .pth, .ckpt). No pickled code is run. Functions that a file calls are looked up in a
// list of names; any other name refuses the file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/shape.h"

namespace roentgen::io {

/// A tensor of floats.
struct TorchTensor {
  std::string name;           ///< "layer1.0.conv1.weight"
  Shape shape;                ///< shape in PyTorch's order
  std::vector<float> values;  ///< row-major, whatever its strides were
};

/// Contents of a file.
struct TorchFile {
  std::vector<TorchTensor> tensors;  ///< tensors in the order of the file
  /// Class of a whole pickled model, "torchxrayvision.models.DenseNet"; empty for a state dict.
  std::string class_name{};
  /// Attributes of such a model that are lists of texts: its "pathologies".
  std::map<std::string, std::vector<std::string>> lists{};
};

/// True for bytes that begin as a file of torch.save does: a zip archive, but not NumPy's, or a pickle of its
/// magic number.
[[nodiscard]] bool is_torch_file(std::span<const std::byte> bytes);

/// Reads a state dict, one under "state_dict" or "model" of a dict, or a pickled model. Of a model it reads parameters
/// and persistent buffers and needs no class. f32, f64, f16 and bf16 become f32; integers and bools are left out.
/// Failure, naming file and offset: a call of anything but PyTorch's own functions, values that are no tensors, complex
/// or quantised tensors, TorchScript. Failure also for tensors that leave their storage, truncated data or a wrong
/// CRC-32, more than four elements a byte of the file.
/// @param what names the file in errors
[[nodiscard]] Result<TorchFile> parse_torch_file(std::span<const std::byte> bytes, std::string_view what);

/// Maps a file and parses it: parse_torch_file().
[[nodiscard]] Result<TorchFile> read_torch_file(const std::filesystem::path& path);

}  // namespace roentgen::io
