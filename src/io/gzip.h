// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Unpacks gzip (RFC 1952), because label tables are often published in this form. Accepts several members, as `cat a.gz
// b.gz` creates them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace roentgen::io {

/// True if the bytes begin like a gzip file.
[[nodiscard]] bool is_gzip(std::string_view bytes);

/// Unpacks all members. Fails if the input is truncated, damaged (CRC-32 and length are checked), not gzip, or longer
/// than `limit_bytes` when unpacked. Memory stays below twice the limit, whatever the file claims. `what` names the
/// bytes in errors.
Result<std::string> gunzip(std::string_view packed, std::size_t limit_bytes, std::string_view what);

/// Unpacks as gunzip() does, but passes pieces of at most 1 MiB to `sink`. Returns the number of unpacked bytes.
Result<std::uint64_t> gunzip_to(std::string_view packed, std::uint64_t limit_bytes, std::string_view what,
                                const std::function<void(std::string_view piece)>& sink);

/// Unpacks at most `most_bytes`, fewer if the input ends or is damaged. Used to examine the beginning of a file. Never
/// fails.
[[nodiscard]] std::string gunzip_head(std::string_view packed, std::size_t most_bytes);

}  // namespace roentgen::io
