// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/lmdb_writer.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>

#include "core/random.h"
#include "io/lmdb.h"
#include "io/sha256.h"

namespace roentgen::io {
namespace {

using Entries = std::map<std::string, std::string>;

std::string file_of(const Entries& entries) {
  LmdbWriter writer;
  std::string file(LmdbWriter::kHead_bytes, '\0');
  for (const auto& [key, value] : entries) file += writer.add(key, value);
  file += writer.finish();
  file.replace(0, LmdbWriter::kHead_bytes, writer.head());
  return file;
}

Entries read(const std::string& file) {
  Entries entries;
  const auto bytes = std::as_bytes(std::span(file.data(), file.size()));
  for (const auto& [key, begin, length] : scan_lmdb(bytes, "data.mdb").or_throw()) {
    entries[key] = file.substr(begin, length);
  }
  return entries;
}

// Numbers of entries whose trees have 0 to 3 levels, with small and large values.
TEST(LmdbWriter, writes_what_the_reader_finds) {
  Random random(1, RandomStage::Test);
  for (const int count : {0, 1, 2, 7, 300, 4000}) {
    Entries entries;
    for (int i = 0; i < count; ++i) {
      const auto length = static_cast<std::size_t>(random.below(i % 50 == 0 ? 30'000 : 100));
      entries[fmt::format("{:08}_{}.png", i, std::string(static_cast<std::size_t>(random.below(400)), 'k'))] =
          std::string(length, static_cast<char>('a' + i % 26));
    }
    EXPECT_TRUE(read(file_of(entries)) == entries) << count;
  }
}

// Values around the largest one that is stored within a leaf page, and around a multiple of a page.
TEST(LmdbWriter, stores_values_of_every_length) {
  Entries entries;
  for (std::size_t length = 0; length < 9000; length += length < 2000 || length > 2100 ? 13 : 1) {
    entries[fmt::format("{:06}", length)] = std::string(length, 'v');
  }
  EXPECT_TRUE(read(file_of(entries)) == entries);
}

// liblmdb requires at least two children of every branch page. Keys of 500 bytes leave 7 in a page.
TEST(LmdbWriter, gives_every_branch_page_two_children) {
  constexpr std::size_t kPage = LmdbWriter::kPage_bytes;
  for (int count = 8; count < 120; ++count) {
    Entries entries;
    for (int i = 0; i < count; ++i) entries[fmt::format("{:0500}", i)] = "v";
    const std::string file = file_of(entries);
    EXPECT_TRUE(read(file) == entries);
    for (std::size_t page = 2 * kPage; page < file.size(); page += kPage) {
      const auto field = [&](std::size_t at) {
        return static_cast<unsigned char>(file[page + at]) | static_cast<unsigned char>(file[page + at + 1]) << 8;
      };
      constexpr int kBranch = 1, kHead_bytes = 16;
      if (field(10) != kBranch) continue;
      EXPECT_GE((field(12) - kHead_bytes) / 2, 2) << count;
    }
  }
}

// tools/peers/records_lmdb.py checks with liblmdb that such files are databases. This test notices changed bytes.
TEST(LmdbWriter, writes_the_bytes_that_liblmdb_read) {
  Entries entries;
  for (int i = 0; i < 500; ++i) {
    entries[fmt::format("{:08}_{}.png", i, i)] = std::string(static_cast<std::size_t>(i * 37 % 5000), 'x');
  }
  EXPECT_EQ(sha256_hex(file_of(entries)), "cad98e197bde9236645780717252b3937e6d93fa8e1d296e9fca75a04f0fe066");
}

// The reader visits all pages, so it does not use the keys in branch pages. liblmdb finds an entry by them. It found
// every entry of this database of 4 levels.
TEST(LmdbWriter, writes_the_branch_keys_by_which_liblmdb_finds_entries) {
  Entries entries;
  for (int i = 0; i < 500; ++i) entries[fmt::format("{:08}_{:0490}", i, i * i)] = fmt::format("{}", i);
  const std::string file = file_of(entries);
  constexpr std::size_t kDepth_at = LmdbWriter::kPage_bytes + 16 + 24 + 48 + 6;  // in the second head page
  EXPECT_EQ(file[kDepth_at], 4);
  EXPECT_EQ(sha256_hex(file), "2a74d777e0f7461c710f4b683e1b12abb4f446eef800abc28084c68269e98954");
}

}  // namespace
}  // namespace roentgen::io
