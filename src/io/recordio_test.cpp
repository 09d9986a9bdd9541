// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/recordio.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "io/recordio_testing.h"

namespace roentgen::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kRecordIoMagic;
using testing::little_endian;
using testing::recordio_part;
using testing::recordio_record;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string error_of(std::string_view file) {
  const auto places = scan_recordio(bytes_of(file), "a.rec");
  return places.ok() ? "no error" : places.error();
}

TEST(RecordIo, gives_the_places_of_records) {
  const std::string file = recordio_record("12345") + recordio_record("") + recordio_record("abcd");
  EXPECT_THAT(scan_recordio(bytes_of(file), "a.rec").or_throw(),
              ElementsAre(RecordIoPlace{8, 5}, RecordIoPlace{24, 0}, RecordIoPlace{32, 4}));
  EXPECT_TRUE(scan_recordio({}, "a.rec").or_throw().empty());
}

TEST(RecordIo, joins_what_the_magic_parted) {
  const std::string magic = little_endian(kRecordIoMagic);
  for (const std::string& data :
       {"abcd" + magic + "rest!", magic, magic + magic + "x", "abc" + magic, "12345678" + magic}) {
    const std::string file = recordio_record("first") + recordio_record(data) + recordio_record("last");
    const auto places = scan_recordio(bytes_of(file), "a.rec").or_throw();
    ASSERT_EQ(places.size(), 3U);
    const auto stored = bytes_of(file).subspan(places[1].begin, places[1].length);
    EXPECT_EQ(places[1].is_in_parts, data != "abc" + magic) << "unaligned words stay";
    std::vector<std::byte> joined(stored.begin(), stored.end());
    if (places[1].is_in_parts) {
      ASSERT_TRUE(join_recordio(stored, joined));
    }
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(joined.data()), joined.size()), data);
    EXPECT_EQ(file.substr(places[2].begin, places[2].length), "last");
  }
}

// The writer of recordio_testing.h is independent of the one under test.
TEST(RecordIo, is_written_as_dmlc_core_does) {
  const std::string magic = little_endian(kRecordIoMagic);
  for (const std::string& data : {std::string(), std::string("12345"), "abcd" + magic + "rest!", magic, magic + magic,
                                  magic + magic + "x", "abc" + magic, "12345678" + magic, magic.substr(0, 3)}) {
    EXPECT_EQ(encode_recordio(data), recordio_record(data));
  }
  for (const std::vector<float>& labels : {std::vector<float>{3.0F}, {1.0F, 0.0F, -1.0F}}) {
    EXPECT_EQ(encode_recordio_header(labels, 17), testing::recordio_header(labels, 17));
  }
}

TEST(RecordIo, refuses_what_is_damaged_or_cut) {
  const std::string one = recordio_record("12345");
  EXPECT_THAT(error_of(one + "abc"), HasSubstr("a.rec, record 2 at byte 16: expected a whole record, got 3 bytes"));
  EXPECT_THAT(error_of(one.substr(0, 10)), HasSubstr("expected 5 bytes of data, got 2 to the end of the file"));
  EXPECT_EQ(error_of(one.substr(0, 13)), "no error") << "only padding is cut";
  EXPECT_THAT(error_of("TFRecord"), HasSubstr("expected RecordIO's magic ced7230a, got 65524654"));
  EXPECT_THAT(error_of(little_endian(0x3ed7230aU) + one), HasSubstr("got that of 2015, 3ed7230a"));
  EXPECT_THAT(error_of(recordio_part(2, "x")), HasSubstr("expected the first part of a record, got a part of kind 2"));
  EXPECT_THAT(error_of(recordio_part(5, "x")), HasSubstr("got a part of kind 5"));
  EXPECT_THAT(error_of(recordio_part(1, "x") + one),
              HasSubstr("expected another part of the record, got a part of kind 0"));
  EXPECT_THAT(error_of(recordio_part(1, "x")), HasSubstr("another part of the record, got the end of the file"));
}

TEST(RecordIo, header_has_one_label_or_many) {
  const auto one = parse_recordio_header(bytes_of(testing::recordio_header({7.0F}, 12) + "image"), "a").or_throw();
  EXPECT_THAT(one.labels, ElementsAre(7.0F));
  EXPECT_EQ(one.id, 12U);
  EXPECT_EQ(one.length, 24U);
  const auto two = parse_recordio_header(bytes_of(testing::recordio_header({1.0F, 0.5F}, 3)), "a").or_throw();
  EXPECT_THAT(two.labels, ElementsAre(1.0F, 0.5F));
  EXPECT_EQ(two.length, 32U);
  const std::string many = little_endian(0xFFFFFFFFU) + std::string(40, 'x');
  EXPECT_THAT(parse_recordio_header(bytes_of(many), "a.rec, record 1").error(),
              HasSubstr("a.rec, record 1: expected 4294967295 labels, got 44 bytes"));
  EXPECT_THAT(parse_recordio_header(bytes_of("short"), "a").error(), HasSubstr("expected a header of 24 bytes"));
}

TEST(RecordIo, survives_any_damage) {
  const std::string whole = recordio_record("ab") + recordio_record("abcd" + little_endian(kRecordIoMagic) + "rest");
  Random random(8, RandomStage::Test);
  std::vector<std::byte> joined;
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole.substr(0, random.below(3) == 0 ? random.below(whole.size() + 1) : whole.size());
    for (std::uint64_t k = random.below(4); k > 0 && !damaged.empty(); --k) {
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    }
    static_cast<void>(join_recordio(bytes_of(damaged), joined));
    const auto places = scan_recordio(bytes_of(damaged), "a.rec");
    if (!places) continue;
    for (const auto& place : places.value()) ASSERT_LE(place.begin + place.length, damaged.size());
  }
}

}  // namespace
}  // namespace roentgen::io
