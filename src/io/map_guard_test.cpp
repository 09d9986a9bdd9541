// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/map_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "io/file.h"
#include "io/io_testing.h"

namespace roentgen::io {
namespace {

namespace fs = std::filesystem;

class MapGuard : public ::testing::Test {
 protected:
  static constexpr std::size_t kBytes = 100'000;

  [[nodiscard]] fs::path file() const {
    fs::path path = folder_.path() / "a.bin";
    std::ofstream(path, std::ios::binary) << std::string(kBytes, 'x');
    return path;
  }
  static std::size_t zeros(const MappedFile& map) {
    return static_cast<std::size_t>(std::ranges::count(map.bytes(), std::byte{0}));
  }
  testing::TemporaryFolder folder_;
};

TEST_F(MapGuard, a_file_that_is_cut_short_reads_as_zeros_and_is_told_by_name) {
  const fs::path path = file();
  const MappedFile map = MappedFile::open(path).or_throw();
  EXPECT_EQ(zeros(map), 0U);
  EXPECT_TRUE(check_map(map.bytes(), path).ok());
  fs::resize_file(path, 5000);
  EXPECT_EQ(zeros(map), kBytes - 5000) << "no SIGBUS";
  EXPECT_THAT(check_map(map.bytes(), path).error(), ::testing::HasSubstr(path.string() + ": expected 100000 bytes"));
  fs::resize_file(path, kBytes);
  EXPECT_FALSE(check_map(map.bytes(), path).ok()) << "what was read stays wrong";
}

TEST_F(MapGuard, a_cut_within_the_last_page_is_seen_though_it_raises_no_signal) {
  const fs::path path = file();
  const MappedFile map = MappedFile::open(path).or_throw();
  fs::resize_file(path, kBytes - 1);
  EXPECT_EQ(zeros(map), 1U);
  EXPECT_FALSE(check_map(map.bytes(), path).ok());
}

TEST_F(MapGuard, each_map_is_told_apart) {
  const fs::path path = file();
  const fs::path other = folder_.path() / "b.bin";
  fs::copy_file(path, other);
  const MappedFile whole = MappedFile::open(other).or_throw();
  {
    const MappedFile cut = MappedFile::open(path).or_throw();
    fs::resize_file(path, 0);
    EXPECT_EQ(zeros(cut), kBytes);
    EXPECT_TRUE(was_cut_short(cut.bytes()));
  }
  EXPECT_EQ(zeros(whole), 0U);
  EXPECT_FALSE(was_cut_short(whole.bytes()));
  const MappedFile again = MappedFile::open(other).or_throw();  // reuses the slot of the file unmapped before
  EXPECT_FALSE(was_cut_short(again.bytes()));
}

TEST_F(MapGuard, leaves_other_faults_to_the_system) {
  const MappedFile map = MappedFile::open(file()).or_throw();
  // The process ends by the signal, or with an error if a sanitizer handles it.
  EXPECT_DEATH(static_cast<void>(::raise(SIGBUS)), "");
}

}  // namespace
}  // namespace roentgen::io
