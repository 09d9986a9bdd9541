// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "io/file.h"
#include "io/io_testing.h"

namespace roentgen::io {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Expected bytes come from np.save("x.npy", np.array([[1, -2.5, 3], [4, 5, 6]], dtype="<f4")).
TEST(Npy, holds_a_matrix_as_numpy_writes_it) {
  const testing::TemporaryFolder folder;
  const std::vector<float> values{1.0F, -2.5F, 3.0F, 4.0F, 5.0F, 6.0F};
  write_npy(folder.path() / "x.npy", {2, 3}, values);
  const std::string text = read_text(folder.path() / "x.npy").or_throw();
  ASSERT_EQ(text.size(), 128U + values.size() * sizeof(float));
  const std::string_view start("\x93NUMPY\x01\x00\x76\x00", 10);
  EXPECT_THAT(text,
              StartsWith(std::string(start) + "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }      "));
  EXPECT_EQ(text[127], '\n');
  EXPECT_EQ(std::memcmp(text.data() + 128, values.data(), values.size() * sizeof(float)), 0);
}

TEST(Npy, writes_the_comma_of_a_single_dimension) {
  const testing::TemporaryFolder folder;
  write_npy(folder.path() / "x.npy", {1}, std::vector<float>{7.0F});
  EXPECT_THAT(read_text(folder.path() / "x.npy").or_throw(), HasSubstr("'shape': (1,), }"));
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string error_of(std::string_view file) {
  const auto head = parse_npy_head(bytes_of(file), "x.npy");
  return head.ok() ? "no error" : head.error();
}

TEST(Npy, head_reads_what_it_writes) {
  for (const DType dtype : {DType::F32, DType::U8, DType::U16}) {
    for (const Shape& shape : {Shape{7}, Shape{2, 3}, Shape{4, 5, 3}}) {
      const std::string head = npy_head(shape, dtype);
      EXPECT_EQ(head.size() % 64, 0U);
      const std::string file = head + std::string(static_cast<std::size_t>(shape.elements()) * size_of(dtype), 'x');
      const NpyHead read = parse_npy_head(bytes_of(file), "x.npy").or_throw();
      EXPECT_EQ(read.shape, shape);
      EXPECT_EQ(read.dtype, dtype);
      EXPECT_EQ(read.data_begin, head.size());
    }
  }
}

TEST(Npy, head_of_format_2_and_without_blanks_is_read) {
  const std::string_view text = "{'descr':'|u1','fortran_order':False,'shape':(2,1)}\n";
  const std::string file = std::string("\x93NUMPY\x02\x00", 8) + static_cast<char>(text.size()) + std::string(3, '\0') +
                           std::string(text) + "ab";
  EXPECT_EQ(parse_npy_head(bytes_of(file), "x.npy").or_throw().shape, (Shape{2, 1}));
}

TEST(Npy, head_of_anything_else_is_refused) {
  const std::string sound = npy_head({2, 3}, DType::U8) + "123456";
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = sound;
    return text.replace(text.find(from), to.size(), to);
  };
  EXPECT_EQ(error_of(sound), "no error");
  EXPECT_THAT(error_of("P5"), HasSubstr("[io.npy] x.npy: expected a .npy file of format 1.0 or 2.0"));
  EXPECT_THAT(error_of(sound.substr(0, 40)), HasSubstr("got a truncated one"));
  EXPECT_THAT(error_of(sound + "7"), HasSubstr("expected 6 bytes of elements, got 7"));
  EXPECT_THAT(error_of(with("|u1", ">u2")), HasSubstr("expected dtype uint8, uint16 or float32 (little-endian)"));
  EXPECT_THAT(error_of(with("False", "True ")), HasSubstr("expected C order"));
  EXPECT_THAT(error_of(with("(2, 3)", "(-2,3)")), HasSubstr("expected a valid array shape"));
  EXPECT_THAT(error_of(with("(2, 3), }", "(99999999999999, 9), }")), HasSubstr("expected a valid array shape"));
  EXPECT_THAT(error_of(with("(2, 3), }", "(2, 3      ")), HasSubstr("expected a valid array shape"));
}

}  // namespace
}  // namespace roentgen::io
