// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "tests/fuzz/dicom_fragment.h"

namespace roentgen::fuzz {

void fuzz_dicom_rle(Input input) { decode_fragment(input, "1.2.840.10008.1.2.5"); }

}  // namespace roentgen::fuzz
