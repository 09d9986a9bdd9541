// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests of this room: a file that is gone afterwards.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace roentgen::cli {

/// A csv file with this text.
class ScratchFile {
 public:
  explicit ScratchFile(std::string_view text) {
    static int count = 0;
    path_ = std::filesystem::path(testing::TempDir()) /
            ("roentgen_cli_" + std::to_string(::getpid()) + "_" + std::to_string(count++) + ".csv");
    std::ofstream(path_) << text;
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace roentgen::cli
