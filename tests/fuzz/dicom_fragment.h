// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compressed pixels of a DICOM file as the input of a fuzz target.
#pragma once

#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

/// Decodes `input` as the one fragment of a file with 8x8 pixels of 12 bits in this transfer syntax.
void decode_fragment(Input input, const char* syntax);

}  // namespace roentgen::fuzz
