// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Archives written by GNU tar, BSD tar and Python. Expected values come from Python's tarfile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/file.h"
#include "io/gzip.h"
#include "io/io_testing.h"
#include "io/tar.h"

namespace roentgen::io {
namespace {

namespace fs = std::filesystem;

class RealTar : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory(folder_)) GTEST_SKIP() << "NO REAL DATA at " << folder_ << ": NOTHING TESTED";
  }
  const fs::path folder_ = testing::real_data() / "records/webdataset";
};

TEST_F(RealTar, of_the_webdataset_and_torchdata_tests_is_read) {
  struct Expected {
    std::string_view name;
    std::size_t files;
    std::string_view last;
  };
  for (const auto& [name, files, last] :
       {Expected{"bytes", 3, "bytes/2.bt"}, Expected{"csv", 3, "csv/2.csv"},
        Expected{"compressed", 3, "compressed/0003.txt.gz"}, Expected{"json", 3, "json/2.json"},
        Expected{"mpdata", 100, "000099.mp"}, Expected{"tendata", 100, "000099.ten"}, Expected{"txt", 3, "txt/2.txt"},
        Expected{"testgz", 1000, "b1c0b397a1104961b594de92fae99229.txt.gz"}}) {
    const auto file = MappedFile::open(folder_ / (std::string(name) + ".tar")).or_throw();
    const auto members = scan_tar(file.bytes(), name).or_throw();
    EXPECT_EQ(members.size(), files) << name;
    EXPECT_EQ(members.back().name, last);
    if (name != "json") continue;
    const auto text = file.bytes().subspan(members[0].begin, members[0].length);
    EXPECT_EQ(static_cast<char>(text.front()), '{');
  }
}

}  // namespace
}  // namespace roentgen::io
