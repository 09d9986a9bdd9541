// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Every damaged safetensors file causes a one-line Failure, never a crash or an invalid read.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/random.h"
#include "io/io_testing.h"
#include "io/safetensors.h"

namespace roentgen::io {
namespace {
/// Encodes a file: header length, header, and data.
std::string file_of(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  return text + header + std::string(data_bytes, '\x7f');
}

/// Opens a text as a file and, if that succeeds, reads every byte. Returns the error, or empty.
std::string verdict_of(const std::string& content, const std::filesystem::path& path) {
  std::filesystem::remove(
      path);  // new file each time, because file systems flush overwritten files, thousands of times here
  testing::put_file(path, content);
  const auto reader = SafetensorsReader::open(path);
  if (!reader.ok()) return reader.error();
  for (const TensorInfo& tensor : reader.value().tensors()) {
    unsigned sum = 0;
    for (const std::byte byte : reader.value().bytes(tensor)) sum += static_cast<unsigned>(byte);
    const auto floats = reader.value().read_f32(tensor.name);
    EXPECT_TRUE(!floats.ok() || floats.value().size() == static_cast<std::size_t>(tensor.shape.elements())) << sum;
  }
  return "";
}

std::string verdict_of(const std::string& content) {
  const testing::TemporaryFolder folder;
  return verdict_of(content, folder.path() / "weights.safetensors");
}

std::string verdict_of_header(const std::string& header, std::size_t data_bytes) {
  return verdict_of(file_of(header, data_bytes));
}

struct Wrong {
  std::string header;
  std::size_t data_bytes;
  std::string expected;
};

TEST(SafetensorsDamage, a_file_that_is_cut_short_while_it_is_read_is_an_error_that_names_it) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "weights.safetensors";
  testing::put_file(path, file_of(R"({"a":{"dtype":"F32","shape":[10000],"data_offsets":[0,40000]}})", 40000));
  const SafetensorsReader reader = SafetensorsReader::open(path).or_throw();
  EXPECT_TRUE(reader.read_f32("a").ok());
  std::filesystem::resize_file(path, 5000);
  EXPECT_NE(reader.read_f32("a").error().find(path.string() + ": expected "), std::string::npos);
  EXPECT_NE(reader.check().error().find("the file was truncated"), std::string::npos);
}

TEST(SafetensorsDamage, the_intact_file_opens) {
  EXPECT_EQ(verdict_of_header(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8), "");
}

TEST(SafetensorsDamage, a_wrong_header_is_named) {
  const std::string w = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":)";
  const std::vector<Wrong> cases{
      {"", 8, "expected a header that begins with {"},
      {"[]", 0, "expected a header that begins with {"},
      {" {}", 0, "expected a header that begins with {"},
      {"{\"w\":", 0, "expected JSON"},
      {"{} x", 0, "expected JSON"},
      {"{\"w\":3}", 0, "tensor \"w\": expected dtype, shape and data_offsets, got integer"},
      {R"({"w":{"shape":[2],"data_offsets":[0,8]}})", 8, "tensor \"w\": expected dtype F32"},
      {R"({"w":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}})", 2, "got \"F8_E4M3\""},
      {R"({"w":{"dtype":"f32","shape":[2],"data_offsets":[0,8]}})", 8, "got \"f32\""},
      {R"({"w":{"dtype":7,"shape":[2],"data_offsets":[0,8]}})", 8, "got 7"},
      {R"({"w":{"dtype":"F32","data_offsets":[0,8]}})", 8, "expected shape, got none"},
      {R"({"w":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})", 8, "expected shape as an array, got integer"},
      {R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8,
       "expected non-negative integers in shape, got -2"},
      {R"({"w":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8,
       "expected non-negative integers in shape, got number"},
      {R"({"w":{"dtype":"F32","shape":["2"],"data_offsets":[0,8]}})", 8,
       "expected non-negative integers in shape, got \"2\""},
      {R"({"w":{"dtype":"F32","shape":[2]}})", 8, "expected data_offsets, got none"},
      {w + "[0,8,9]}}", 8, "expected 2 data_offsets, got 3"},
      {w + "[-1,7]}}", 8, "expected non-negative integers in data_offsets, got -1"},
      {w + "[8,0]}}", 8, "expected data inside the file's 8 bytes, got 8 to 0"},
      {w + "[0,9]}}", 8, "expected data inside the file's 8 bytes, got 0 to 9"},
      {w + "[0,9223372036854775807]}}", 8, "expected data inside the file's 8 bytes"},
      {w + "[0,18446744073709551615]}}", 8, "expected non-negative integers in data_offsets, got number"},
      {w + "[0,7]}}", 8, "expected 8 bytes for (2) F32, got offsets 0 to 7"},
      {w + "[4,12]}}", 12, "expected data that begins at byte 0, got 4"},
      {w + "[0,8]}}", 9, "expected 8 bytes of data, got 9 bytes"},
      {w + R"([0,8]},"v":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12,
       "tensor \"v\": expected data that begins at byte 8"},
      {w + R"([0,8]},"v":{"dtype":"F32","shape":[1],"data_offsets":[9,13]}})", 13,
       "tensor \"v\": expected data that begins at byte 8"},
      {w + R"([0,8]},"w":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})", 12, "got key \"w\" twice"},
      {R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0, "fewer than 2^63 bytes"},
      {R"({"w":{"dtype":"U8","shape":[9223372036854775807,3,0],"data_offsets":[0,0]}})", 0, "fewer than 2^63 bytes"},
      {R"({"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, "fewer than 2^63 bytes"},
      {R"({"__metadata__":[]})", 0, "\"__metadata__\": expected a table of strings, got array"},
      {R"({"__metadata__":{"a":1}})", 0, "\"__metadata__\": expected strings only, got \"a\" = 1"},
  };
  for (const Wrong& wrong : cases) {
    const std::string verdict = verdict_of_header(wrong.header, wrong.data_bytes);
    EXPECT_TRUE(verdict.starts_with("[io.")) << wrong.header << ": " << verdict;
    EXPECT_NE(verdict.find("weights.safetensors"), std::string::npos) << verdict;
    EXPECT_NE(verdict.find(wrong.expected), std::string::npos) << wrong.header << ": " << verdict;
    EXPECT_EQ(verdict.find('\n'), std::string::npos) << verdict;
  }
}

TEST(SafetensorsDamage, more_than_32_dimensions_are_refused) {
  std::string ones = "1";
  for (int i = 0; i < 32; ++i) ones += ",1";
  EXPECT_NE(verdict_of_header(R"({"w":{"dtype":"F32","shape":[)" + ones + R"(],"data_offsets":[0,4]}})", 4)
                .find("expected at most 32 dimensions"),
            std::string::npos);
}

TEST(SafetensorsDamage, a_header_length_beyond_the_file_or_100_mb_is_refused_unread) {
  for (const std::uint64_t length : {std::uint64_t{100}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    std::string content(20, '{');
    std::memcpy(content.data(), &length, 8);
    EXPECT_NE(verdict_of(content).find("expected a header of at most 12 bytes, got " + std::to_string(length)),
              std::string::npos);
  }
  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "sparse.safetensors";
  const std::uint64_t length = 100'000'001;
  std::string content(9, '{');
  std::memcpy(content.data(), &length, 8);
  testing::put_file(path, content);
  std::filesystem::resize_file(path, 200'000'000);  // sparse
  const auto reader = SafetensorsReader::open(path);
  ASSERT_FALSE(reader.ok());
  EXPECT_NE(reader.error().find("expected a header of at most 100000000 bytes, got 100000001"), std::string::npos)
      << reader.error();
}

TEST(SafetensorsDamage, a_name_of_megabytes_does_not_fill_the_error) {
  EXPECT_LT(verdict_of_header("{\"" + std::string(1 << 20, 'w') + "\":1}", 0).size(), 500U);
}

TEST(SafetensorsDamage, what_is_absent_or_a_directory_is_named) {
  const testing::TemporaryFolder folder;
  EXPECT_FALSE(SafetensorsReader::open(folder.path() / "absent").ok());
  EXPECT_NE(SafetensorsReader::open(folder.path()).error().find("got a folder"), std::string::npos);
}

/// A small but complete file with several dtypes, metadata and escapes.
std::string sample() {
  return file_of(R"({"__metadata__":{"labels":"Mass|Nodule","r\u00e9":"x\n"},)"
                 R"("conv1.weight":{"dtype":"F32","shape":[2,1,3],"data_offsets":[0,24]},)"
                 R"("step":{"dtype":"I64","shape":[],"data_offsets":[24,32]},)"
                 R"("head":{"dtype":"F16","shape":[3],"data_offsets":[32,38]}}  )",
                 38);
}

TEST(SafetensorsDamage, every_shorter_file_is_refused) {
  const testing::TemporaryFolder folder;
  const std::string whole = sample();
  ASSERT_EQ(verdict_of(whole, folder.path() / "a"), "");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string verdict = verdict_of(whole.substr(0, length), folder.path() / "a");
    ASSERT_TRUE(verdict.starts_with("[io.")) << length << " bytes of " << whole.size();
  }
}

TEST(SafetensorsDamage, accidents_anywhere_do_not_crash) {
  constexpr std::uint64_t kSeed = 14;
  const testing::TemporaryFolder folder;
  int refused = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    Random random(kSeed, RandomStage::Test, i);
    const std::string verdict = verdict_of(testing::damaged(sample(), random), folder.path() / "a");
    ASSERT_TRUE(verdict.empty() || verdict.starts_with("[io.")) << verdict << ", seed " << kSeed << ", case " << i;
    ASSERT_EQ(verdict.find('\n'), std::string::npos) << "seed " << kSeed << ", case " << i;
    refused += verdict.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 7'000) << "damage that nothing notices tests nothing";
}
}  // namespace
}  // namespace roentgen::io
