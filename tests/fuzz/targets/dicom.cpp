// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "tests/fuzz/image_target.h"

namespace roentgen::fuzz {

void fuzz_dicom(Input input) { decode_any(input); }

}  // namespace roentgen::fuzz
