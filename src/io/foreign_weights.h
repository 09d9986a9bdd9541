// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Recognises weight files of other programs, so that an error can say how to convert them. io/torch_file.h reads
// PyTorch's files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "core/result.h"

namespace roentgen::io {

/// Failure that names the format of a file that is no safetensors, and what converts it; nullopt for unknown bytes.
/// @param bytes of the file, at least the first 512 where it has as many
[[nodiscard]] std::optional<Failure> foreign_weights(const std::filesystem::path& path,
                                                     std::span<const std::byte> bytes);

}  // namespace roentgen::io
