// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Bytes as text, for data URIs.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace roentgen::io {

/// Base 64 with '+', '/' and padding (RFC 4648, 4), without line breaks.
[[nodiscard]] std::string to_base64(std::span<const std::byte> bytes);

}  // namespace roentgen::io
