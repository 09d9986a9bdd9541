// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// gzip (RFC 1952): label tables are often published so. One or several members, as `cat a.gz b.gz` makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace roentgen::io {

/// True when the bytes begin as gzip does.
[[nodiscard]] bool is_gzip(std::string_view bytes);

/// Unpacks all members. Failure for input that is truncated, damaged (CRC-32 and length are checked), no gzip, or
/// longer than `limit_bytes` when unpacked. Memory stays below twice the limit whatever the file claims. `what` names
/// the bytes in errors.
Result<std::string> gunzip(std::string_view packed, std::size_t limit_bytes, std::string_view what);

/// Unpacks as gunzip(), but gives `sink` pieces of at most 1 MiB; returns the number of unpacked bytes.
Result<std::uint64_t> gunzip_to(std::string_view packed, std::uint64_t limit_bytes, std::string_view what,
                                const std::function<void(std::string_view piece)>& sink);

/// Unpacks up to `most_bytes`, or fewer if the input ends or is damaged. For looking at a file's beginning without
/// reading it whole. Never fails.
[[nodiscard]] std::string gunzip_head(std::string_view packed, std::size_t most_bytes);

}  // namespace roentgen::io
