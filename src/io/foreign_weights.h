// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Recognises weight files of other programs, so that an error can say how to convert them. PyTorch's files are read by
// io/torch_file.h.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "core/result.h"

namespace roentgen::io {

/// Returns a Failure that names the format of a file that is not safetensors, and how to convert it; nullopt for
/// unknown formats.
/// @param bytes beginning of the file: at least 512 bytes, or all of a shorter file
[[nodiscard]] std::optional<Failure> foreign_weights(const std::filesystem::path& path,
                                                     std::span<const std::byte> bytes);

}  // namespace roentgen::io
