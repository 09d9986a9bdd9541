// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/io_testing.h"

namespace roentgen::io {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

constexpr std::size_t kLimit = 1 << 20;

// printf 'a,b\n1,2\n' | gzip -n9
constexpr std::string_view kTable{
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xd4\x49\xe2\x32\xd4\x31\xe2\x02\x00\x7b\x07\x97\x0a\x08\x00\x00\x00",
    28};

std::string error_of(std::string_view packed, std::size_t limit = kLimit) {
  const auto result = gunzip(packed, limit, "t.csv.gz");
  std::string pieces;
  const auto length = gunzip_to(packed, limit, "t.csv.gz", [&pieces](std::string_view piece) { pieces += piece; });
  EXPECT_EQ(length.ok() ? "no error" : length.error(), result.ok() ? "no error" : result.error());
  if (result && length) {
    EXPECT_EQ(pieces, result.value());
    EXPECT_EQ(length.value(), pieces.size());
  }
  return result.ok() ? "no error" : result.error();
}

TEST(Gzip, unpacks_what_gzip_packs) {
  EXPECT_TRUE(is_gzip(kTable));
  EXPECT_EQ(gunzip(kTable, kLimit, "t").or_throw(), "a,b\n1,2\n");
}

TEST(Gzip, joins_members_and_passes_over_padding) {
  const std::string twice = std::string(kTable) + std::string(3, '\0') + std::string(kTable) + std::string(100, '\0');
  EXPECT_EQ(gunzip(twice, kLimit, "t").or_throw(), "a,b\n1,2\na,b\n1,2\n");
}

TEST(Gzip, joins_members_that_follow_each_other_at_once) {
  EXPECT_EQ(gunzip(std::string(kTable) + std::string(kTable), kLimit, "t").or_throw(), "a,b\n1,2\na,b\n1,2\n");
}

TEST(Gzip, refuses_what_is_cut_short_at_any_byte) {
  for (std::size_t bytes = 0; bytes < kTable.size(); ++bytes) {
    EXPECT_THAT(error_of(kTable.substr(0, bytes)), HasSubstr("[io.gzip] t.csv.gz: expected a complete gzip file"))
        << bytes;
  }
}

// Bytes 3 to 9 contain flags, time and system. Changes there are harmless unless a flag announces a longer header.
TEST(Gzip, notices_any_changed_bit_of_data_sum_and_length) {
  for (std::size_t byte = 10; byte < kTable.size(); ++byte) {
    if (byte == 19) continue;  // last compressed byte, whose upper bits are unused
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged(kTable);
      damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << bit));
      EXPECT_THAT(error_of(damaged), HasSubstr("[io.gzip] t.csv.gz: expected")) << byte << ' ' << bit;
    }
  }
}

TEST(Gzip, survives_any_bytes) {
  Random random(RandomKey{.seed = 7});
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(kTable.substr(0, 10));
    const auto more = random.below(60);
    for (std::uint64_t i = 0; i < more; ++i) bytes.push_back(static_cast<char>(random.below(256)));
    static_cast<void>(gunzip(bytes, kLimit, "t"));
    static_cast<void>(gunzip_head(bytes, 100));
  }
}

TEST(Gzip, stops_at_the_limit) {
  EXPECT_EQ(gunzip(kTable, 8, "t").or_throw(), "a,b\n1,2\n") << "exactly as long";
  EXPECT_THAT(error_of(kTable, 7), HasSubstr("expected at most 7 bytes when unpacked, got more"));
}

TEST(Gzip, gives_the_beginning_of_what_is_cut_short) {
  EXPECT_EQ(gunzip_head(kTable, 4), "a,b\n");
  EXPECT_EQ(gunzip_head(kTable, 4000), "a,b\n1,2\n");
  EXPECT_EQ(gunzip_head(kTable.substr(0, 20), 4000), gunzip_head(kTable.substr(0, 20), 5000));
  EXPECT_EQ(gunzip_head("no gzip at all", 4), "");
}

TEST(Gzip, is_read_as_a_table) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "t.csv.gz";
  write_file_atomically(path, kTable);
  const Csv csv = read_csv(path).or_throw();
  EXPECT_EQ(csv.header, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(csv.sha256, parse_csv("a,b\n1,2\n", "t").or_throw().sha256) << "of the text, however it is packed";
}

}  // namespace
}  // namespace roentgen::io
