// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/foreign_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "io/io_testing.h"
#include "io/safetensors.h"

namespace roentgen::io {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

class ForeignWeights : public ::testing::Test {
 protected:
  /// Error for a file that begins with these bytes.
  std::string error_of(const std::string& name, const std::string& head) {
    const std::filesystem::path path = folder_.path() / name;
    testing::put_file(path, head + std::string(600, '\0'));
    const auto reader = SafetensorsReader::open(path);
    return reader.ok() ? "no error" : reader.error();
  }
  TemporaryFolder folder_;
};

TEST_F(ForeignWeights, a_pytorch_file_is_named_with_the_command_that_converts_it) {
  const std::string zip = error_of("a\"b.pth", "PK\x03\x04\0\0\x08\x08archive/data.pkl"s);
  EXPECT_THAT(zip, HasSubstr("expected a safetensors file, got a PyTorch file; try roentgen convert-weights '/"));
  EXPECT_THAT(zip, HasSubstr("a\"b.safetensors'"));
  EXPECT_THAT(error_of("old.pt", "\x80\x02\x8a\x0al\xfc\x9c"s),
              HasSubstr("got a PyTorch file from before version 1.6"));
}

TEST_F(ForeignWeights, other_formats_are_named) {
  EXPECT_THAT(error_of("a.npz", "PK\x03\x04\x14\0\0\0conv1.weight.npy"s),
              HasSubstr("got a NumPy archive; try running in Python"));
  EXPECT_THAT(error_of("a.zip", "PK\x03\x04\x14\0\0\0readme"s), HasSubstr("got a zip archive"));
  EXPECT_THAT(error_of("a.h5", "\x89HDF\r\n\x1a\n"s), HasSubstr("got an HDF5 file"));
  EXPECT_THAT(error_of("a.onnx", "\x08\x07\x12\x07pytorch"s), HasSubstr("got an ONNX file"));
  EXPECT_THAT(error_of("a.safetensors", "version https://git-lfs.github.com/spec/v1"), HasSubstr("git lfs pull"));
  EXPECT_THAT(error_of("b.safetensors", "<!DOCTYPE html>"), HasSubstr("got a web page"));
}

TEST_F(ForeignWeights, unknown_bytes_are_a_damaged_file) {
  EXPECT_THAT(error_of("a.safetensors", std::string(8, '\x7f')), HasSubstr("a complete copy of the file"));
}

}  // namespace
}  // namespace roentgen::io
