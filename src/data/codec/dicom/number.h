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

/// The number that `text` spells, apart from blanks and NULs around it. nullopt for anything else: a comma, a unit,
/// "inf", or a number beyond the range of doubles.
[[nodiscard]] std::optional<double> parse_decimal(std::string_view text);

/// Values of an element as text, without the blanks around each; binary numbers in decimal digits. Empty if the element
/// is absent or holds nothing but blanks.
[[nodiscard]] std::vector<std::string> values_of(DcmItem& item, const DcmTagKey& tag);

/// `text` for a message: at most 32 characters, in quotes.
[[nodiscard]] std::string quoted_value(std::string_view text);

}  // namespace roentgen::data
