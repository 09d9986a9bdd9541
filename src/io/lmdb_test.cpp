// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/lmdb.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "io/lmdb_testing.h"

namespace roentgen::io {
namespace {

using ::testing::HasSubstr;
using testing::LmdbWriter;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string error_of(std::string_view file) {
  const auto entries = scan_lmdb(bytes_of(file), "data.mdb");
  return entries.ok() ? "no error" : entries.error();
}
// Small values and values with separate pages; the tree has two levels.
std::map<std::string, std::string> some_entries() {
  std::map<std::string, std::string> entries;
  for (int i = 0; i < 20; ++i) {
    entries[fmt::format("{:08}_a.png", i)] = std::string(static_cast<std::size_t>(i * 397), static_cast<char>('a' + i));
  }
  return entries;
}
template <typename Number>
std::string with(std::string file, std::size_t at, Number number) {
  LmdbWriter::put(file, at, number);
  return file;
}

TEST(Lmdb, gives_the_places_of_values) {
  const auto wanted = some_entries();
  for (const std::size_t leaf_entries : {std::size_t{3}, std::size_t{20}}) {
    auto entries = wanted;
    if (leaf_entries == 20) std::erase_if(entries, [](const auto& one) { return one.second.size() < 1000; });
    const std::string file = LmdbWriter::file(entries, leaf_entries);
    std::map<std::string, std::string> read;
    for (const auto& [key, begin, length] : scan_lmdb(bytes_of(file), "data.mdb").or_throw()) {
      read[key] = file.substr(begin, length);
    }
    EXPECT_EQ(read, entries);
  }
  EXPECT_TRUE(scan_lmdb(bytes_of(LmdbWriter::file({})), "data.mdb").or_throw().empty());
}

TEST(Lmdb, refuses_what_is_damaged_or_cut) {
  const std::string file = LmdbWriter::file(some_entries());
  const std::size_t page = LmdbWriter::kPage_bytes, pages = file.size() / page, root = (pages - 1) * page;
  EXPECT_EQ(error_of(file), "no error");
  EXPECT_THAT(error_of("an image"), HasSubstr("[io.lmdb] data.mdb: expected an LMDB database"));
  EXPECT_THAT(error_of(file.substr(0, page)), HasSubstr("an LMDB database (format 1"));
  EXPECT_THAT(error_of(with(file, 20, 7)), HasSubstr("an LMDB database (format 1"));
  EXPECT_THAT(error_of(with(file, 40, 1U << 30)), HasSubstr("an LMDB database (format 1"));
  EXPECT_THAT(error_of(file.substr(0, file.size() - 1)),
              HasSubstr(fmt::format("expected {} pages, got {} to the end of the file", pages, pages - 1)));
  const std::size_t main = page + 16 + 72;
  EXPECT_THAT(error_of(with(file, main + 4, std::uint16_t{4})), HasSubstr("one value for each key"));
  EXPECT_THAT(error_of(with(file, main + 32, std::uint64_t{21})), HasSubstr("expected 21 entries, got 20"));
  EXPECT_THAT(error_of(with(file, main + 40, std::uint64_t{999999})),
              HasSubstr("page 999999: expected a valid page of the search tree"));
  EXPECT_THAT(error_of(with(file, root, std::uint64_t{3})),
              HasSubstr("expected a valid page of the search tree, got a damaged tree"));
  EXPECT_THAT(error_of(with(file, root + 10, std::uint16_t{3})),
              HasSubstr("expected a branch or leaf page, got flags 3"));
  EXPECT_THAT(error_of(with(file, root + 12, std::uint16_t{9999})), HasSubstr("a valid table of node offsets"));
  EXPECT_THAT(error_of(with(file, root + 16, std::uint16_t{4095})),
              HasSubstr("expected nodes inside the page, got a node outside"));
  EXPECT_THAT(error_of(with(file, 2 * page + 16, std::uint16_t{8})), HasSubstr("got a node outside"));
  std::uint16_t node = 0;
  std::memcpy(&node, file.data() + 2 * page + 18, 2);
  EXPECT_THAT(error_of(with(file, 2 * page + node + 6, std::uint16_t{5000})), HasSubstr("nodes that do not overlap"));
  EXPECT_THAT(error_of(with(file, 2 * page + node + 2, std::uint16_t{9})), HasSubstr("a value that ends outside"));
  EXPECT_THAT(error_of(with(file, 2 * page + node + 4, std::uint16_t{2})), HasSubstr("a nested database"));
  std::uint16_t child = 0;
  std::memcpy(&child, file.data() + root + 16, 2);
  EXPECT_THAT(error_of(with(file, root + child, static_cast<std::uint16_t>(pages - 1))),
              HasSubstr("a valid page of the search tree"))
      << "a branch that leads to itself";
}

TEST(Lmdb, survives_any_damage) {
  const std::string whole = LmdbWriter::file(some_entries());
  Random random(9, RandomStage::Test);
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = whole.substr(0, random.below(5) == 0 ? random.below(whole.size() + 1) : whole.size());
    for (std::uint64_t k = random.below(6); k > 0 && !damaged.empty(); --k) {
      const bool is_head = random.below(2) == 0;
      const std::size_t page = random.below(damaged.size()) / LmdbWriter::kPage_bytes * LmdbWriter::kPage_bytes;
      const std::size_t at = is_head ? page + random.below(200) : random.below(damaged.size());
      if (at < damaged.size()) damaged[at] = static_cast<char>(random.below(256));
    }
    const auto entries = scan_lmdb(bytes_of(damaged), "data.mdb");
    if (!entries) continue;
    for (const auto& entry : entries.value()) ASSERT_LE(entry.begin + entry.length, damaged.size());
  }
}

}  // namespace
}  // namespace roentgen::io
