// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads tensors from PyTorch's files (.pt, .pth, .ckpt) without running pickled code. A file that calls a function
// outside a fixed list of names is refused.
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
  std::string name;           ///< name such as "layer1.0.conv1.weight"
  Shape shape;                ///< shape in PyTorch's order
  std::vector<float> values;  ///< row-major, regardless of the stored strides
};

/// Tensors and other contents of a PyTorch file.
struct TorchFile {
  std::vector<TorchTensor> tensors;  ///< tensors in the order of the file
  /// Class of a whole pickled model, such as "torchxrayvision.models.DenseNet"; empty for a state dict.
  std::string class_name{};
  /// Attributes of a pickled model that are lists of texts, such as "pathologies".
  std::map<std::string, std::vector<std::string>> lists{};
};

/// True if the bytes begin like a file of torch.save: a zip archive other than NumPy's, or a pickle of torch.save's
/// magic number.
[[nodiscard]] bool is_torch_file(std::span<const std::byte> bytes);

/// Reads a state dict (top-level, or under "state_dict" or "model" of a dict) or a pickled model. From a model it reads
/// parameters and persistent buffers, without needing its class. f32, f64, f16 and bf16 become f32; integers and bools
/// are skipped.
/// Fails, naming file and offset, for calls of functions other than PyTorch's own, values that are no tensors, complex
/// or quantised tensors, and TorchScript. Also fails for tensors outside their storage, truncated data, a wrong CRC-32,
/// or more than four elements per byte of the file.
/// @param what names the file in errors
[[nodiscard]] Result<TorchFile> parse_torch_file(std::span<const std::byte> bytes, std::string_view what);

/// Maps a file and parses it with parse_torch_file().
[[nodiscard]] Result<TorchFile> read_torch_file(const std::filesystem::path& path);

}  // namespace roentgen::io
