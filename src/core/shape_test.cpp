// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/shape.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <stdexcept>

namespace roentgen {
namespace {
constexpr std::array kAll{DType::F32, DType::Bf16, DType::F16, DType::F64,
                          DType::I64, DType::I32,  DType::U16, DType::U8};

TEST(Shape, counts_elements) {
  EXPECT_EQ(Shape({16, 64, 56, 56}).elements(), 3'211'264);
  EXPECT_EQ(Shape({3, 0, 5}).elements(), 0);
  EXPECT_EQ(Shape({70'000, 70'000}).elements(), 4'900'000'000);
}

TEST(Shape, of_rank_0_has_one_element) {
  EXPECT_EQ(Shape().rank(), 0);
  EXPECT_EQ(Shape().elements(), 1);
  EXPECT_EQ(Shape().text(), "()");
}

TEST(Shape, prints_its_dimensions) {
  EXPECT_EQ(Shape({16, 64, 56, 56}).text(), "(16, 64, 56, 56)");
  EXPECT_EQ(Shape({7}).text(), "(7)");
}

TEST(Shape, gives_and_takes_single_dimensions) {
  Shape shape{2, 3};
  shape[1] = 9;
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[1], 9);
  EXPECT_EQ(shape, Shape({2, 9}));
  EXPECT_NE(shape, Shape({2, 9, 1}));
}

TEST(Shape, refuses_an_axis_it_does_not_have) {
  const Shape shape{2, 3};
  EXPECT_THROW(static_cast<void>(shape[2]), std::out_of_range);
  EXPECT_THROW(static_cast<void>(shape[-1]), std::out_of_range);
}

TEST(DType, names_are_distinct_and_sizes_follow_them) {
  std::set<std::string_view> names;
  for (const DType dtype : kAll) {
    EXPECT_TRUE(names.insert(name_of(dtype)).second) << name_of(dtype);
    const std::string_view name = name_of(dtype);
    const std::size_t bits =
        static_cast<std::size_t>(std::stoi(std::string(name.substr(name.find_first_of("0123456789")))));
    EXPECT_EQ(size_of(dtype) * 8, bits) << name;
  }
  EXPECT_EQ(name_of(DType::Bf16), "bf16");
  EXPECT_EQ(name_of(DType::U8), "u8");
}
}  // namespace
}  // namespace roentgen
