// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/safetensors.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/file.h"
#include "io/io_testing.h"

namespace roentgen::io {
namespace {
namespace fs = std::filesystem;
using namespace std::string_literals;

template <typename T>
std::span<const std::byte> bytes_of(const T& values) {
  return std::as_bytes(std::span(values));
}

const std::array kBias{1.5F, -2.0F};
const std::array kWeight{1.0F, 0.5F, std::bit_cast<float>(0x7fc00000U), -0.0F};
const std::array<std::uint8_t, 3> kMask{1, 2, 3};

/// Writes a file with the tensors kBias, kWeight and kMask and one metadata entry.
void write_golden(const fs::path& path) {
  const std::vector<TensorToWrite> tensors{
      {.name = "bias", .dtype = DType::F32, .shape = {2}, .bytes = bytes_of(kBias)},
      {.name = "weight", .dtype = DType::F32, .shape = {2, 2}, .bytes = bytes_of(kWeight)},
      {.name = "mask", .dtype = DType::U8, .shape = {3}, .bytes = bytes_of(kMask)}};
  write_safetensors(path, tensors, {{"labels", "Mass|Nodule"}});
}

// Output of `safetensors.numpy.save` of the reference implementation (0.8.0) for the tensors and metadata of
// write_golden().
const std::string kGolden =
    "\xd8\0\0\0\0\0\0\0"s +
    R"({"__metadata__":{"labels":"Mass|Nodule"},"bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)" +
    R"("weight":{"dtype":"F32","shape":[2,2],"data_offsets":[8,24]},)" +
    R"("mask":{"dtype":"U8","shape":[3],"data_offsets":[24,27]}} )" + "\0\0\xc0\x3f\0\0\0\xc0"s +
    "\0\0\x80\x3f\0\0\0\x3f\0\0\xc0\x7f\0\0\0\x80"s + "\1\2\3"s;

TEST(Safetensors, writes_the_bytes_of_the_reference_implementation) {
  const testing::TemporaryFolder folder;
  write_golden(folder.path() / "a");
  EXPECT_EQ(read_text(folder.path() / "a").or_throw(), kGolden);
}

TEST(Safetensors, reads_the_bytes_of_the_reference_implementation) {
  const testing::TemporaryFolder folder;
  testing::put_file(folder.path() / "a", kGolden);
  const SafetensorsReader reader = SafetensorsReader::open(folder.path() / "a").or_throw();
  ASSERT_EQ(reader.tensors().size(), 3U);
  EXPECT_EQ(reader.tensors()[1].name, "weight");
  EXPECT_EQ(reader.tensors()[1].shape, Shape({2, 2}));
  EXPECT_EQ(reader.metadata(), (std::map<std::string, std::string>{{"labels", "Mass|Nodule"}}));
  const TensorInfo* mask = reader.find("mask");
  ASSERT_NE(mask, nullptr);
  EXPECT_EQ(mask->dtype, DType::U8);
  EXPECT_EQ(std::memcmp(reader.bytes(*mask).data(), kMask.data(), 3), 0);
  EXPECT_EQ(reader.find("absent"), nullptr);
}

TEST(Safetensors, gives_back_the_bits_of_every_float) {
  const testing::TemporaryFolder folder;
  std::vector<std::uint32_t> bits{0U,          0x80000000U, 1U,          0x007fffffU, 0x3f800000U,
                                  0x7f800000U, 0xff800000U, 0x7fc00001U, 0x7f800001U, 0xffffffffU};
  const std::vector<TensorToWrite> tensors{{.name = "w", .dtype = DType::F32, .shape = {10}, .bytes = bytes_of(bits)}};
  write_safetensors(folder.path() / "a", tensors, {});
  const SafetensorsReader reader = SafetensorsReader::open(folder.path() / "a").or_throw();
  const std::vector<float> values = reader.read_f32("w").or_throw();
  ASSERT_EQ(values.size(), bits.size());
  EXPECT_EQ(std::memcmp(values.data(), bits.data(), bits.size() * 4), 0) << "quiet and signalling NaN too";
}

TEST(Safetensors, converts_halves_bfloats_and_doubles) {
  const testing::TemporaryFolder folder;
  // Half-precision values: 1, -2, 65504 (largest), 2^-14 (smallest normal), 2^-24 (smallest), 0, -0, inf,
  // 0.333251953125
  const std::vector<std::uint16_t> halves{0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x0000, 0x8000, 0x7c00, 0x3555};
  const std::vector<float> expected{1.0F, -2.0F, 65504.0F, 0x1p-14F, 0x1p-24F, 0.0F, -0.0F, INFINITY, 0.333251953125F};
  const std::vector<std::uint16_t> bfloats{0x3f80, 0xc000, 0xff80, 0x0001};
  const std::vector<double> doubles{0.1, 1e300, -3.0};
  const std::vector<std::uint16_t> nan_half{0x7e01};
  const std::vector<TensorToWrite> tensors{
      {.name = "half", .dtype = DType::F16, .shape = {3, 3}, .bytes = bytes_of(halves)},
      {.name = "bfloat", .dtype = DType::Bf16, .shape = {4}, .bytes = bytes_of(bfloats)},
      {.name = "double", .dtype = DType::F64, .shape = {3}, .bytes = bytes_of(doubles)},
      {.name = "nan", .dtype = DType::F16, .shape = {1}, .bytes = bytes_of(nan_half)}};
  write_safetensors(folder.path() / "a", tensors, {});
  const SafetensorsReader reader = SafetensorsReader::open(folder.path() / "a").or_throw();
  const std::vector<float> half = reader.read_f32("half").or_throw();
  EXPECT_EQ(half, expected);
  EXPECT_TRUE(std::signbit(half[6]));
  EXPECT_EQ(reader.read_f32("bfloat").or_throw(), (std::vector<float>{1.0F, -2.0F, -INFINITY, 0x1p-133F}));
  EXPECT_EQ(reader.read_f32("double").or_throw(), (std::vector<float>{0.1F, INFINITY, -3.0F}));
  EXPECT_TRUE(std::isnan(reader.read_f32("nan").or_throw()[0]));
}

TEST(Safetensors, gives_no_floats_for_integers_or_absent_names) {
  const testing::TemporaryFolder folder;
  write_golden(folder.path() / "a");
  const SafetensorsReader reader = SafetensorsReader::open(folder.path() / "a").or_throw();
  const std::string what = "[io.safetensors] " + (folder.path() / "a").string() + ", tensor ";
  EXPECT_EQ(reader.read_f32("mask").error(),
            what + "\"mask\": expected F32, F64, F16 or BF16, got U8; try saving the weights as F32");
  EXPECT_EQ(reader.read_f32("fc.bias").error(),
            what + "\"fc.bias\": expected a tensor of this name, got none; try a file that contains it");
}

TEST(Safetensors, keeps_scalars_and_empty_tensors) {
  const testing::TemporaryFolder folder;
  const std::array<std::int64_t, 1> step{-7};
  const std::vector<TensorToWrite> tensors{
      {.name = "empty", .dtype = DType::F32, .shape = {0, 5}, .bytes = {}},
      {.name = "step", .dtype = DType::I64, .shape = Shape(), .bytes = bytes_of(step)},
      {.name = "end", .dtype = DType::F32, .shape = {0}, .bytes = {}}};
  write_safetensors(folder.path() / "a", tensors, {});
  const SafetensorsReader reader = SafetensorsReader::open(folder.path() / "a").or_throw();
  EXPECT_TRUE(reader.read_f32("empty").or_throw().empty());
  EXPECT_EQ(reader.find("step")->shape, Shape());
  EXPECT_EQ(reader.bytes(*reader.find("step")).size(), 8U);
  EXPECT_EQ(reader.find("end")->begin, 8U);
}

TEST(Safetensors, without_tensors_is_a_valid_file) {
  const testing::TemporaryFolder folder;
  write_safetensors(folder.path() / "a", {}, {});
  const SafetensorsReader reader = SafetensorsReader::open(folder.path() / "a").or_throw();
  EXPECT_TRUE(reader.tensors().empty());
  EXPECT_TRUE(reader.metadata().empty());
}

TEST(Safetensors, keeps_odd_names_and_metadata) {
  const testing::TemporaryFolder folder;
  const std::string odd = "a \"quoted\" \\ name\n\xC3\xB6";
  const std::vector<TensorToWrite> tensors{{.name = odd, .dtype = DType::F32, .shape = {2}, .bytes = bytes_of(kBias)}};
  const std::map<std::string, std::string> metadata{{"", ""}, {odd, "seed = 1\n[model]\nname = \"x\"\n"}};
  write_safetensors(folder.path() / "a", tensors, metadata);
  const SafetensorsReader reader = SafetensorsReader::open(folder.path() / "a").or_throw();
  EXPECT_NE(reader.find(odd), nullptr);
  EXPECT_EQ(reader.metadata(), metadata);
}

TEST(Safetensors, refuses_to_write_names_twice_and_bytes_that_do_not_fit) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  const TensorToWrite good{.name = "w", .dtype = DType::F32, .shape = {2}, .bytes = bytes_of(kBias)};
  TensorToWrite reserved = good;
  reserved.name = "__metadata__";
  TensorToWrite wrong_shape = good;
  wrong_shape.shape = {3};
  TensorToWrite negative = good;
  negative.shape = {-2, -1};
  EXPECT_THROW(write_safetensors(path, std::vector{good, good}, {}), ConfigError);
  EXPECT_THROW(write_safetensors(path, std::vector{reserved}, {}), ConfigError);
  EXPECT_THROW(write_safetensors(path, std::vector{wrong_shape}, {}), ShapeError);
  EXPECT_THROW(write_safetensors(path, std::vector{negative}, {}), ShapeError);
  EXPECT_EQ(testing::listing(folder.path()), "");
}

TEST(Safetensors, on_a_full_disk_says_so_and_keeps_the_last_checkpoint) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "best.safetensors";
  write_golden(path);
  const std::vector<float> large(1 << 20);
  const std::vector<TensorToWrite> tensors{
      {.name = "w", .dtype = DType::F32, .shape = {1 << 20}, .bytes = bytes_of(large)}};
  std::string error;
  try {
    const testing::FileSizeLimit limit(1 << 20);
    write_safetensors(path, tensors, {});
  } catch (const DataError& caught) {
    error = caught.what();
  }
  EXPECT_TRUE(error.starts_with("[io.file] " + path.string() + ": expected free space for ")) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos);
  EXPECT_EQ(testing::listing(folder.path()), "best.safetensors");
  EXPECT_EQ(read_text(path).or_throw(), kGolden);
}
}  // namespace
}  // namespace roentgen::io
