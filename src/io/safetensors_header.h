// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parses and checks the header of a safetensors file, and converts names of dtypes. For safetensors*.cpp only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "io/safetensors.h"

namespace roentgen::io::safetensors {

/// Number of bytes before the header: its length as u64le.
constexpr std::uint64_t kPrefixBytes = 8;
/// Limit on the header's length, as in the reference implementation.
constexpr std::uint64_t kLimitHeaderBytes = 100'000'000;
/// Key of the metadata in the header; a tensor cannot have this name.
constexpr std::string_view kMetadataKey = "__metadata__";

/// Parsed header.
struct Header {
  /// Tensors in the order of their data.
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::string> metadata;
};

/// Parses a header's JSON; `data_bytes` is the size of the data after it. Fails, naming file and tensor, if it is no
/// JSON object, a dtype is unknown, or a shape or offset is not a valid count. Also fails for over 32 dimensions, and
/// for a size that overflows or differs from the shape's. Also fails if data lie outside the file, overlap, leave a
/// gap, or do not end with the file.
Result<Header> parse_header(std::string_view text, const std::string& what, std::uint64_t data_bytes);

/// Name of a dtype in the file, such as "F32" or "BF16".
[[nodiscard]] std::string file_name_of(DType dtype);

/// Quotes a name for error texts and cuts it, because a hostile header may contain a name of megabytes.
[[nodiscard]] std::string shown(std::string_view name);

}  // namespace roentgen::io::safetensors
