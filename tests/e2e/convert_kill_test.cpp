// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    files[entry.path().filename().string()] = read_all(entry.path());
  }
  return files;
}

TEST(Convert, goes_on_after_a_kill) {
  const Workplace place;
  const fs::path data = place.synth("data", 240);
  const auto convert = [&](std::string_view folder) {
    return std::vector<std::string>{"convert",  data, place / folder, "--to", "tfrecord",
                                    "--shards", "40", "--workers",    "1"};
  };
  place.must_run(convert("whole"));
  int kills = 0;
  // A record file gets its name when it is complete. A temporary file has lines as soon as it contains the header of a
  // PNG file.
  for (const char* file : {"train-00004-of-00040.tfrecord", "train-00020-of-00040.tfrecord"}) {
    Process process(convert("killed"), place.root());
    if (!process.wait_for_lines(place / "killed" / file, 1)) break;
    process.signal(SIGKILL);
    kills += process.wait().code == 128 + SIGKILL ? 1 : 0;
  }
  EXPECT_GT(kills, 0);
  place.must_run(plus(convert("killed"), {"--verify", "--json", place / "convert.json"}));
  EXPECT_EQ(files_of(place / "killed"), files_of(place / "whole"));
}

}  // namespace
}  // namespace roentgen::e2e
