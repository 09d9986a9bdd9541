// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The header of a safetensors file: parsing it with every check, and its names for dtypes. For safetensors*.cpp only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "io/safetensors.h"

namespace roentgen::io::safetensors {

/// Bytes before the header: its length, u64le.
constexpr std::uint64_t kPrefixBytes = 8;
/// The reference implementation's own limit on a header.
constexpr std::uint64_t kLimitHeaderBytes = 100'000'000;
/// The key of the string map; no tensor may be called so.
constexpr std::string_view kMetadataKey = "__metadata__";

/// Content of a header.
struct Header {
  /// Tensors in the order of their data.
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::string> metadata;
};

/// Parses a header's JSON; `data_bytes` is the size of the data that follow it. Failure, naming file and tensor, for no
/// JSON object, an unknown dtype, and a shape or offsets that are no counts. Failure for over 32 dimensions, and a size
/// that overflows or differs from the shape's. Failure for data outside the file, and data that overlap, leave a hole
/// or do not end with the file.
Result<Header> parse_header(std::string_view text, const std::string& what, std::uint64_t data_bytes);

/// Name of a dtype in the file: "F32", "BF16".
[[nodiscard]] std::string file_name_of(DType dtype);

/// A name for error texts, quoted; cut, since a hostile header may hold one of megabytes.
[[nodiscard]] std::string shown(std::string_view name);

}  // namespace roentgen::io::safetensors
