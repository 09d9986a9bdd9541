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

// As numpy writes np.save("x.npy", np.array([[1, -2.5, 3], [4, 5, 6]], dtype="<f4")).
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

}  // namespace
}  // namespace roentgen::io
