// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/datum.h"

#include <gtest/gtest.h>

#include <string>

namespace roentgen::io {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(Datum, is_encoded_as_caffe_writes_it) {
  const std::string message = encode_datum(
      {.channels = 1, .height = 300, .width = 2, .label = 7, .data = bytes_of("image"), .is_encoded = true});
  // Wire format: tag (field and type), value. 300 = 0xac 0x02.
  EXPECT_EQ(message, std::string("\x08\x01\x10\xac\x02\x18\x02\x22\x05image\x28\x07\x38\x01"));
  const Datum datum = parse_datum(bytes_of(message));
  EXPECT_TRUE(datum.is_sound && datum.is_encoded && !datum.has_floats && !datum.has_others);
  EXPECT_EQ(datum.channels, 1);
  EXPECT_EQ(datum.height, 300);
  EXPECT_EQ(datum.width, 2);
  EXPECT_EQ(datum.label, 7);
  EXPECT_EQ(datum.data.size(), 5U);
}

TEST(Datum, of_class_0_has_a_label) {
  const std::string message = encode_datum({.data = bytes_of("i"), .is_encoded = true});
  EXPECT_NE(message.find(std::string("\x28\x00", 2)), std::string::npos);
}

TEST(Datum, that_is_cut_is_not_sound) {
  const std::string message = encode_datum({.label = 3, .data = bytes_of("image"), .is_encoded = true});
  EXPECT_FALSE(parse_datum(bytes_of(message.substr(0, 9))).is_sound);
}

}  // namespace
}  // namespace roentgen::io
