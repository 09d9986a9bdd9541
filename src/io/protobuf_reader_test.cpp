// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/protobuf_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <limits>

#include "io/protobuf.h"

namespace roentgen::io {
namespace {

using ::testing::ElementsAre;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

bool is_damaged(std::string_view message) {
  ProtobufReader reader(bytes_of(message));
  while (reader.next()) {
  }
  return reader.is_damaged();
}

TEST(ProtobufReader, reads_what_the_writer_writes) {
  ProtobufWriter writer;
  writer.integer(1, -5);
  writer.number(2, 0.5);
  writer.number(300, 0.25F);
  writer.text(4, "text");
  const std::array<std::int64_t, 3> values{0, 300, std::numeric_limits<std::int64_t>::min()};
  writer.integers(5, values);
  ProtobufReader reader(bytes_of(writer.data()));
  const auto integer = *reader.next();
  EXPECT_EQ(integer.number, 1);
  EXPECT_EQ(static_cast<std::int64_t>(integer.value), -5);
  const auto number = *reader.next();
  EXPECT_EQ(number.type, WireType::Fixed64);
  EXPECT_EQ(std::bit_cast<double>(number.value), 0.5);
  const auto single = *reader.next();
  EXPECT_EQ(single.number, 300);
  EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(single.value)), 0.25F);
  EXPECT_EQ(reader.next()->text(), "text");
  EXPECT_THAT(*packed_varints(reader.next()->bytes), ElementsAre(0, 300, std::numeric_limits<std::int64_t>::min()));
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_FALSE(reader.is_damaged());
}

TEST(ProtobufReader, notices_what_is_no_field) {
  EXPECT_TRUE(is_damaged(std::string("\x00\x01", 2)));                          // field 0
  EXPECT_TRUE(is_damaged("\x0b"));                                              // a group
  EXPECT_TRUE(is_damaged("\x0f\x01"));                                          // type 7
  EXPECT_TRUE(is_damaged("\x08"));                                              // no value
  EXPECT_TRUE(is_damaged("\x08\xff"));                                          // a truncated varint
  EXPECT_TRUE(is_damaged("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));      // more than 64 bits
  EXPECT_TRUE(is_damaged("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));  // eleven bytes
  EXPECT_TRUE(
      is_damaged("\x0a\x05"
                 "four"));                                                  // bytes beyond the end
  EXPECT_TRUE(is_damaged("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));  // 2^64 - 1 bytes
  EXPECT_TRUE(
      is_damaged("\x0d"
                 "123"));                                   // three of four bytes
  EXPECT_TRUE(is_damaged("\xff\xff\xff\xff\xff\x7f\x01"));  // a field number beyond 2^31
  EXPECT_FALSE(is_damaged(""));
}

TEST(PackedVarints, end_with_their_field) {
  EXPECT_TRUE(packed_varints({})->empty());
  EXPECT_FALSE(packed_varints(bytes_of("\x01\xff")).has_value());
}

RC_GTEST_PROP(ProtobufReader, ends_on_any_bytes, (const std::string& bytes)) {
  ProtobufReader reader(bytes_of(bytes));
  std::size_t fields = 0;
  while (reader.next()) ++fields;
  RC_ASSERT(2 * fields <= bytes.size());
  static_cast<void>(packed_varints(bytes_of(bytes)));
}

}  // namespace
}  // namespace roentgen::io
