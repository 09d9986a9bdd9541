// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/record.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"

namespace roentgen::io {
namespace {

using ::testing::HasSubstr;

// CRC32C computed bit by bit from its definition (RFC 3720, B.4): reflected polynomial 0x82F63B78.
std::uint32_t crc32c(std::string_view data) {
  std::uint32_t crc = ~0U;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}
std::uint32_t masked(std::string_view data) {
  const std::uint32_t crc = crc32c(data);
  return (crc >> 15 | crc << 17) + 0xA282EAD8U;
}
std::uint64_t number_at(std::string_view data, std::size_t at, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes; i-- > 0;) number = number << 8 | static_cast<unsigned char>(data.at(at + i));
  return number;
}

TEST(RecordFrame, has_length_and_both_sums) {
  ASSERT_EQ(crc32c("123456789"), 0xE3069283U);  // published check value of CRC32C
  for (const std::string& data : {std::string(), std::string("a"), std::string(70000, 'x')}) {
    const std::string frame = record_frame(data);
    ASSERT_EQ(frame.size(), data.size() + 16);
    EXPECT_EQ(number_at(frame, 0, 8), data.size());
    EXPECT_EQ(number_at(frame, 8, 4), masked(frame.substr(0, 8)));
    EXPECT_EQ(frame.substr(12, data.size()), data);
    EXPECT_EQ(number_at(frame, 12 + data.size(), 4), masked(data));
  }
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string three_records() { return record_frame("first") + record_frame("") + record_frame(std::string(300, 'x')); }

std::string error_of(std::string_view file, RecordCheck check = RecordCheck::Data) {
  const auto places = scan_records(bytes_of(file), "a.tfrecord", check);
  return places.ok() ? "no error" : places.error();
}

TEST(MaskedCrc32c, is_the_definitions) {
  for (const std::string text : {"", "123456789", "a longer text than a word"}) {
    EXPECT_EQ(masked_crc32c(bytes_of(text)), masked(text));
  }
}

TEST(ScanRecords, finds_every_record) {
  const std::string file = three_records();
  const auto places = scan_records(bytes_of(file), "a.tfrecord", RecordCheck::Data).or_throw();
  ASSERT_EQ(places.size(), 3U);
  EXPECT_EQ(file.substr(places[0].begin, places[0].length), "first");
  EXPECT_EQ(places[1].length, 0U);
  EXPECT_EQ(file.substr(places[2].begin, places[2].length), std::string(300, 'x'));
  EXPECT_TRUE(scan_records({}, "empty", RecordCheck::Data).or_throw().empty());
}

TEST(ScanRecords, refuses_a_file_cut_short_anywhere_but_between_records) {
  const std::string file = three_records();
  const auto places = scan_records(bytes_of(file), "a.tfrecord", RecordCheck::Data).or_throw();
  for (std::size_t bytes = 0; bytes < file.size(); ++bytes) {
    bool is_between = bytes == 0;
    for (const RecordPlace& place : places) is_between = is_between || bytes == place.begin + place.length + 4;
    const std::string error = error_of(std::string_view(file).substr(0, bytes), RecordCheck::Lengths);
    EXPECT_EQ(error == "no error", is_between) << bytes << ' ' << error;
  }
}

TEST(ScanRecords, notices_any_changed_bit) {
  const std::string file = three_records();
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_THAT(error_of(damaged), HasSubstr("[io.record] a.tfrecord, record")) << bit;
  }
}

TEST(ScanRecords, leaves_the_data_alone_where_only_lengths_are_checked) {
  std::string file = three_records();
  file[13] = 'F';
  EXPECT_EQ(error_of(file, RecordCheck::Lengths), "no error");
  EXPECT_THAT(error_of(file), HasSubstr("record 1 at byte 0: expected data with a valid checksum"));
}

TEST(ScanRecords, bears_absurd_lengths) {
  for (const std::uint64_t length : {~0ULL, ~0ULL - 11, ~0ULL - 15, 1ULL << 63, 1ULL << 40}) {
    std::string head;
    for (int i = 0; i < 8; ++i) head.push_back(static_cast<char>(length >> (8 * i)));
    const std::uint32_t crc = masked_crc32c(bytes_of(head));
    for (int i = 0; i < 4; ++i) head.push_back(static_cast<char>(crc >> (8 * i)));
    EXPECT_THAT(error_of(head + std::string(20, '\0')), HasSubstr(fmt::format("expected {} bytes of data", length)));
  }
}

TEST(IsSoundRecord, compares_the_sum_behind_the_data) {
  const std::string frame = record_frame("data");
  EXPECT_TRUE(is_sound_record(bytes_of(frame).subspan(12)));
  EXPECT_FALSE(is_sound_record(bytes_of(frame).subspan(11)));
  EXPECT_FALSE(is_sound_record(bytes_of(frame).first(3)));
}

}  // namespace
}  // namespace roentgen::io
