// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roentgen::io {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

// Encodes a number in little-endian order.
std::string number(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

constexpr std::uint32_t kCrcOfHello = 0x3610a686;

struct Form {
  bool is_wide = false;  // sizes are in the zip64 field
  std::uint16_t method = 0;
  std::uint32_t crc32 = kCrcOfHello;
};

std::string archive(const Form& form) {
  const std::string name = "a/b", data = "hello";
  const std::uint64_t size = form.is_wide ? 0xFFFFFFFF : data.size();
  const std::string wide =
      form.is_wide ? number(1, 2) + number(24, 2) + number(data.size(), 8) + number(data.size(), 8) + number(0, 8) : "";
  const std::string common = number(0, 2) + number(form.method, 2) + number(0, 4) + number(form.crc32, 4) +
                             number(size, 4) + number(size, 4) + number(name.size(), 2);
  std::string zip = "PK\x03\x04" + number(45, 2) + common + number(0, 2) + name + data;
  const std::size_t begin = zip.size();
  zip += "PK\x01\x02" + number(45, 2) + number(45, 2) + common + number(wide.size(), 2) + number(0, 2 + 2 + 2 + 4) +
         number(form.is_wide ? 0xFFFFFFFF : 0, 4) + name + wide;
  const std::size_t length = zip.size() - begin, end64 = zip.size();
  if (form.is_wide) {
    zip += "PK\x06\x06" + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8) + number(1, 8) + number(1, 8) +
           number(length, 8) + number(begin, 8) + "PK\x06\x07" + number(0, 4) + number(end64, 8) + number(1, 4);
  }
  return zip + "PK\x05\x06" + number(0, 4) + number(1, 2) + number(1, 2) +
         number(form.is_wide ? 0xFFFFFFFF : length, 4) + number(form.is_wide ? 0xFFFFFFFF : begin, 4) + number(3, 2) +
         "end";
}

std::string error_of(const std::string& zip) {
  const auto bytes = std::as_bytes(std::span(zip));
  const auto members = scan_zip(bytes, "x.zip");
  if (!members) return members.error();
  for (const ZipMember& member : members.value()) {
    const auto data = read_zip_member(bytes, member, "x.zip");
    if (!data) return data.error();
  }
  return "no error";
}

TEST(Zip, finds_stored_files_also_by_wide_sizes) {
  for (const bool is_wide : {false, true}) {
    const std::string zip = archive({.is_wide = is_wide});
    const auto members = scan_zip(std::as_bytes(std::span(zip)), "x.zip").or_throw();
    ASSERT_EQ(members.size(), 1U);
    EXPECT_EQ(members[0].name, "a/b");
    EXPECT_EQ(zip.substr(members[0].begin, members[0].length), "hello");
    EXPECT_EQ(error_of(zip), "no error");
  }
}

TEST(Zip, refuses_what_is_compressed_or_changed) {
  EXPECT_THAT(error_of(archive({.method = 8})),
              HasSubstr("expected an uncompressed file, got a compressed or encrypted file"));
  EXPECT_THAT(error_of(archive({.crc32 = 1})), HasSubstr("x.zip, a/b: expected CRC-32 00000001, got 3610a686"));
}

TEST(Zip, refuses_every_cut) {
  for (const bool is_wide : {false, true}) {
    const std::string zip = archive({.is_wide = is_wide});
    for (std::size_t size = 0; size < zip.size(); ++size) EXPECT_NE(error_of(zip.substr(0, size)), "no error") << size;
    for (std::size_t begin = 1; begin < zip.size(); ++begin)
      EXPECT_NE(error_of(zip.substr(begin)), "no error") << begin;
  }
}

}  // namespace
}  // namespace roentgen::io
