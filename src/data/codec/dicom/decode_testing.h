// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Decodes the files of dicom_testing.h. Only tests in this folder include it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "data/codec/codec.h"
#include "data/codec/dicom_testing.h"

namespace roentgen::data {

/// Decodes `file` as "study.dcm", up to 2^20 pixels.
inline Status decode_test_file(std::string_view file, Image& image, Intensity intensity = Intensity::Stored,
                               Channels channels = Channels::FromFile) {
  constexpr DecodeLimits kLimits{.max_pixels = 1 << 20, .max_bytes = 1 << 23};
  return Decoder().decode(std::as_bytes(std::span(file)), "study.dcm",
                          {.channels = channels, .limits = kLimits, .intensity = intensity}, image);
}

/// Returns the error message for a refused file, or "no error".
inline std::string error_of(std::string_view file, Intensity intensity = Intensity::Stored) {
  Image image;
  const Status status = decode_test_file(file, image, intensity);
  return status ? "no error" : status.error();
}
inline std::string error_of(const TestDicom& dicom, Intensity intensity = Intensity::Stored) {
  return error_of(encode_test_dicom(dicom), intensity);
}

/// Gray levels of all pixels, and the level of white.
struct DecodedLevels {
  std::vector<std::uint16_t> levels;
  std::uint32_t white = 0;
};
/// Decodes a file; fails the test if it is refused.
inline DecodedLevels decoded(const TestDicom& dicom, Intensity intensity = Intensity::Stored) {
  Image image;
  const Status status = decode_test_file(encode_test_dicom(dicom), image, intensity);
  EXPECT_TRUE(status.ok()) << status.error();
  if (!status) return {};
  DecodedLevels out{.white = image.layout().max_value};
  if (image.layout().bits == 8) {
    const auto samples = image.samples<std::uint8_t>();
    out.levels.assign(samples.begin(), samples.end());
  } else {
    const auto samples = image.samples<std::uint16_t>();
    out.levels.assign(samples.begin(), samples.end());
  }
  return out;
}
inline std::vector<std::uint16_t> levels_of(const TestDicom& dicom, Intensity intensity = Intensity::Stored) {
  return decoded(dicom, intensity).levels;
}

}  // namespace roentgen::data
