// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Datum: Caffe's message for one image and its class (caffe.proto: 1 channels, 2 height, 3 width, 4 data, 5 label,
// 6 float_data, 7 encoded).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace roentgen::io {

/// The fields of a Datum that are used.
struct Datum {
  std::int64_t channels = 0;  ///< number of channels
  std::int64_t height = 0;    ///< height in px
  std::int64_t width = 0;     ///< width in px
  std::int64_t label = 0;     ///< number of the class
  /// An image file, or pixels; refers to the message.
  std::span<const std::byte> data{};
  bool is_encoded = false;  ///< true if `data` is an image file
  bool has_floats = false;  ///< true if there are floating-point pixels
  /// True if there are fields that caffe.proto does not have.
  bool has_others = false;
  /// False if the message is damaged; the other fields are then meaningless.
  bool is_sound = false;
};

/// Parses a message.
[[nodiscard]] Datum parse_datum(std::span<const std::byte> message);

/// Encodes a message with an image file: fields channels, height, width, data, label and encoded.
[[nodiscard]] std::string encode_datum(const Datum& datum);

}  // namespace roentgen::io
