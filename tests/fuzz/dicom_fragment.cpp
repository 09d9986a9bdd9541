// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "tests/fuzz/dicom_fragment.h"

#include <algorithm>
#include <string>

#include "data/codec/codec.h"
#include "data/codec/dicom_testing.h"

namespace roentgen::fuzz {

void decode_fragment(Input input, const char* syntax) {
  std::string fragment(reinterpret_cast<const char*>(input.data()), input.size());
  fragment.resize(fragment.size() + fragment.size() % 2, '\0');
  const std::string file =
      data::encode_test_dicom({.width_px = 8, .height_px = 8, .syntax = syntax, .fragments = {fragment}});
  data::Decoder decoder;
  data::Image image;
  if (!decoder.decode(std::as_bytes(std::span(file)), "input", {}, image)) return;
  if (image.layout().bits == 8) return;
  const std::uint32_t white = image.layout().max_value;
  const auto samples = image.samples<std::uint16_t>();
  require(std::ranges::all_of(samples, [white](std::uint16_t sample) { return sample <= white; }),
          "no sample above the white");
}

}  // namespace roentgen::fuzz
