// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "io/protobuf.h"

#include "io/little_endian.h"

namespace roentgen::io {
namespace {
constexpr int kVarint = 0;
constexpr int kFixed64 = 1;
constexpr int kBytes = 2;
constexpr int kFixed32 = 5;
}  // namespace

void ProtobufWriter::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) data_.push_back(static_cast<char>(value | 0x80));
  data_.push_back(static_cast<char>(value));
}

void ProtobufWriter::key(int field, int wire_type) { varint(static_cast<std::uint64_t>(field) << 3 | wire_type); }

void ProtobufWriter::integer(int field, std::int64_t value) {
  key(field, kVarint);
  varint(static_cast<std::uint64_t>(value));
}

void ProtobufWriter::integers(int field, std::span<const std::int64_t> values) {
  ProtobufWriter packed;
  for (const std::int64_t value : values) packed.varint(static_cast<std::uint64_t>(value));
  message(field, packed);
}

void ProtobufWriter::number(int field, float value) {
  key(field, kFixed32);
  append_little_endian(data_, value);
}

void ProtobufWriter::number(int field, double value) {
  key(field, kFixed64);
  append_little_endian(data_, value);
}

void ProtobufWriter::text(int field, std::string_view value) {
  key(field, kBytes);
  varint(value.size());
  data_.append(value);
}

void ProtobufWriter::bytes(int field, std::span<const std::byte> value) {
  text(field, {reinterpret_cast<const char*>(value.data()), value.size()});
}

void ProtobufWriter::message(int field, const ProtobufWriter& value) { text(field, value.data_); }

}  // namespace roentgen::io
