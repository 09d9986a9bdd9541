// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/codec.h"
#include "data/codec/dicom_study.h"
#include "tests/fuzz/image_target.h"

namespace roentgen::fuzz {

void fuzz_dicom(Input input) {
  decode_any(input);
  static_cast<void>(data::read_dicom_study(input, "input"));
  data::Decoder decoder;
  data::Image image;
  for (const auto intensity : {data::Intensity::Voi, data::Intensity::Nih, data::Intensity::MimicJpg}) {
    const data::DecodeOptions options{.limits = {.max_pixels = 1 << 18, .max_bytes = 4U << 20U},
                                      .intensity = intensity};
    if (!decoder.decode(input, "input", options, image)) continue;
    require(image.layout().max_value > 0 && image.layout().max_value < 65536, "a white that its bits can hold");
  }
}

}  // namespace roentgen::fuzz
