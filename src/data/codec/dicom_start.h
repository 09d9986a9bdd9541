// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Recognises DICOM files by their first bytes. Needs no DICOM library.
#pragma once

#include <cstddef>
#include <span>

namespace roentgen::data {

/// True if `head` begins like a DICOM file: "DICM" after a preamble of 128 bytes. Files without a preamble are
/// recognised by two valid elements at the start. `head` is the file or at least its first 132 bytes.
[[nodiscard]] bool begins_as_dicom(std::span<const std::byte> head);

}  // namespace roentgen::data
