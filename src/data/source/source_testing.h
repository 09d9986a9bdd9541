// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Helpers for tests: a temporary folder, and the message of an exception.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/folder_testing.h"

namespace roentgen::data {

/// A new empty folder below the system's temporary folder; the destructor removes it and its content.
class TestFolder {
 public:
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

  /// Writes a file and creates its folders.
  std::filesystem::path write(std::string_view name, std::string_view text) const {
    const auto path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  TemporaryFolder folder_;
};

/// Returns `text`, below 64 KiB, as a gzip file with one stored block (RFC 1951, 1952).
inline std::string gzipped(std::string_view text) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : text) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  const auto little = [](std::uint32_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFFU);
    return out;
  };
  const auto size = static_cast<std::uint32_t>(text.size());
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x01", 11) + little(size, 2) + little(~size, 2) + std::string(text) +
         little(~crc, 4) + little(size, 4);
}

/// Folder of real test files: ROENTGEN_TEST_DATA, or shared/data in the checkout.
inline std::filesystem::path real_data() {
  if (const char* set = std::getenv("ROENTGEN_TEST_DATA")) return set;
  const char* source = std::getenv("ROENTGEN_SOURCE_DIR");
  return (source != nullptr ? std::filesystem::path(source) : std::filesystem::current_path()) / "../shared/data";
}

/// Base of tests that need real files. If these are absent, the tests are skipped with a message.
class RealDataTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(real_data())) {
      GTEST_SKIP() << "NO REAL DATA at " << real_data() << ": NOTHING TESTED";
    }
  }
};

/// Returns the message of the E that `call` throws; fails the test if it throws none.
template <typename E>
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const E& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "not one line: " << error.what();
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return {};
  }
  ADD_FAILURE() << "nothing thrown";
  return {};
}

}  // namespace roentgen::data
