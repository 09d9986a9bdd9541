// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Numbers that DICOM stores as text: decimal strings (DS) and integer strings (IS), PS3.5 6.2. Only the files of this
// folder include it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/codec/dicom/dataset.h"

namespace roentgen::data {

/// Parses a number, ignoring blanks and NULs around it. Returns nullopt for anything else: a comma, a unit, "inf", or a
/// number beyond the range of double.
[[nodiscard]] std::optional<double> parse_decimal(std::string_view text);

/// Values of an element as text, without blanks around each; binary numbers are written in decimal. Empty if the
/// element is absent or blank.
[[nodiscard]] std::vector<std::string> values_of(DcmItem& item, const DcmTagKey& tag);

/// Quotes `text` for a message and cuts it to at most 32 characters.
[[nodiscard]] std::string quoted_value(std::string_view text);

}  // namespace roentgen::data
