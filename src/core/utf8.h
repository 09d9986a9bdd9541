// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Characters of UTF-8 text. Not a formatter.
#pragma once

#include <cstddef>
#include <string_view>

namespace roentgen {

/// Length in bytes (1 to 4) of the well-formed UTF-8 sequence at the start of `text`; 0 if there is none. Source: The
/// Unicode Standard, table 3-7.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// Code point of a well-formed UTF-8 sequence of 1 to 4 bytes.
[[nodiscard]] char32_t code_point(std::string_view character);

}  // namespace roentgen
