// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "tests/fuzz/dicom_fragment.h"

namespace roentgen::fuzz {

// Decodes the input as JPEG lossless, JPEG extended, JPEG-LS, JPEG 2000 and HTJ2K.
void fuzz_dicom_jpeg(Input input) {
  for (const char* syntax : {"1.2.840.10008.1.2.4.70", "1.2.840.10008.1.2.4.51", "1.2.840.10008.1.2.4.80",
                             "1.2.840.10008.1.2.4.90", "1.2.840.10008.1.2.4.203"}) {
    decode_fragment(input, syntax);
  }
}

}  // namespace roentgen::fuzz
