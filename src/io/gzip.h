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

/// Unpacks all members. A Failure for what is cut short, damaged (CRC-32 and length are checked), no gzip, or longer
/// than `limit_bytes` when unpacked: memory stays below twice the limit whatever the file claims. `what` names the
/// bytes in errors.
Result<std::string> gunzip(std::string_view packed, std::size_t limit_bytes, std::string_view what);

/// As gunzip(), a piece of at most 1 MiB at a time, each given to `sink`; returns how many bytes that were.
Result<std::uint64_t> gunzip_to(std::string_view packed, std::uint64_t limit_bytes, std::string_view what,
                                const std::function<void(std::string_view piece)>& sink);

/// The first `most_bytes` that `packed` unpacks to, or as many as there are before its end or the first damage: to look
/// at a file's beginning without reading it whole. Never fails.
[[nodiscard]] std::string gunzip_head(std::string_view packed, std::size_t most_bytes);

}  // namespace roentgen::io
