// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Recognition of DICOM files by their first bytes; needs no DICOM library.
#pragma once

#include <cstddef>
#include <span>

namespace roentgen::data {

/// True if `head` begins like a DICOM file: "DICM" after a preamble of 128 bytes. Without a preamble, two elements of a
/// file's meta information or data set also count. `head` is the file or its first 132 bytes or more.
[[nodiscard]] bool begins_as_dicom(std::span<const std::byte> head);

}  // namespace roentgen::data
