// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/datum.h"

#include "io/protobuf.h"
#include "io/protobuf_reader.h"

namespace roentgen::io {
namespace {

constexpr int kChannels = 1, kHeight = 2, kWidth = 3, kData = 4, kLabel = 5, kFloats = 6, kEncoded = 7;

}  // namespace

Datum parse_datum(std::span<const std::byte> message) {
  Datum datum;
  ProtobufReader reader(message);
  bool is_sound = true;
  while (const auto field = reader.next()) {
    const auto number = static_cast<std::int64_t>(field->value);
    const bool is_number = field->type == WireType::Varint, is_bytes = field->type == WireType::Bytes;
    if (field->number == kData) datum.data = field->bytes;
    if (field->number == kChannels) datum.channels = number;
    if (field->number == kHeight) datum.height = number;
    if (field->number == kWidth) datum.width = number;
    if (field->number == kLabel) datum.label = number;
    if (field->number == kEncoded) datum.is_encoded = number != 0;
    if (field->number == kFloats) datum.has_floats = true;
    if (field->number > kEncoded) datum.has_others = true;
    const bool wants_number = field->number <= kEncoded && field->number != kData && field->number != kFloats;
    if ((field->number == kData && !is_bytes) || (wants_number && !is_number)) is_sound = false;
  }
  datum.is_sound = is_sound && !reader.is_damaged();
  return datum;
}

std::string encode_datum(const Datum& datum) {
  ProtobufWriter writer;
  writer.integer(kChannels, datum.channels);
  writer.integer(kHeight, datum.height);
  writer.integer(kWidth, datum.width);
  writer.bytes(kData, datum.data);
  writer.integer(kLabel, datum.label);
  writer.integer(kEncoded, datum.is_encoded ? 1 : 0);
  return writer.data();
}

}  // namespace roentgen::io
