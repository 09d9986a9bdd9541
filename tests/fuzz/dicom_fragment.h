// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Uses the input of a fuzz target as the compressed pixels of a DICOM file.
#pragma once

#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

/// Decodes `input` as the only fragment of a DICOM file with 8x8 pixels of 12 bits in this transfer syntax.
void decode_fragment(Input input, const char* syntax);

}  // namespace roentgen::fuzz
