// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Encodes bytes as text for data URIs.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace roentgen::io {

/// Base64 with '+', '/' and padding (RFC 4648, section 4), without line breaks.
[[nodiscard]] std::string to_base64(std::span<const std::byte> bytes);

}  // namespace roentgen::io
