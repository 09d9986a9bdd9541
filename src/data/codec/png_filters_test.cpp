// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the SIMD filters with the specification's formulas, computed byte by byte, on every instruction set of this
// machine.
#include "data/codec/png_filters.h"
#include "data/targets_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "core/random.h"

namespace roentgen::data {
namespace {

using Row = std::vector<std::uint8_t>;

int paeth_of(int a, int b, int c) {
  const int p = a + b - c;
  const int pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  if (pa <= pb && pa <= pc) return a;
  return pb <= pc ? b : c;
}

// Undoes filters by the formulas of the PNG specification, 9.2 to 9.4.
Row undo_plainly(const FilteredRows& rows, Row above) {
  Row all;
  above.resize(rows.row_bytes, 0);
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    const std::uint8_t* filtered = rows.bytes.data() + r * (rows.row_bytes + 1);
    Row row(rows.row_bytes);
    for (std::size_t x = 0; x < row.size(); ++x) {
      const auto back = static_cast<std::size_t>(rows.pixel_bytes);
      const int a = x >= back ? row[x - back] : 0, b = above[x], c = x >= back ? above[x - back] : 0;
      const std::array<int, 5> predicted{0, a, b, (a + b) / 2, paeth_of(a, b, c)};
      row[x] = static_cast<std::uint8_t>(filtered[1 + x] + predicted.at(filtered[0]));
    }
    all.insert(all.end(), row.begin(), row.end());
    above = row;
  }
  return all;
}

// Random rows; some bytes are close to each other, so that Paeth ties occur.
Row draw(Random& random, std::size_t rows, std::size_t row_bytes, int only_filter) {
  Row bytes;
  for (std::size_t r = 0; r < rows; ++r) {
    bytes.push_back(
        static_cast<std::uint8_t>(only_filter < 0 ? random.below(5) : static_cast<std::uint64_t>(only_filter)));
    const std::uint64_t most = random.chance(0.5) ? 256 : 4;
    for (std::size_t x = 0; x < row_bytes; ++x) bytes.push_back(static_cast<std::uint8_t>(random.below(most)));
  }
  return bytes;
}

void check(std::size_t rows, std::size_t pixels, int pixel_bytes, int only_filter, bool has_above, const char* target) {
  Random random(91, RandomStage::Test, rows * 1000 + pixels, static_cast<std::uint32_t>(pixel_bytes));
  const std::size_t row_bytes = pixels * static_cast<std::size_t>(pixel_bytes);
  const Row bytes = draw(random, rows, row_bytes, only_filter);
  Row above(has_above ? row_bytes : 0);
  for (std::uint8_t& byte : above) byte = static_cast<std::uint8_t>(random.below(256));
  const FilteredRows filtered{.bytes = bytes, .row_bytes = row_bytes, .pixel_bytes = pixel_bytes};
  Row out(rows * row_bytes + 1, 77);
  runtime::AlignedBuffer scratch;
  ASSERT_TRUE(undo_row_filters(filtered, above, std::span(out).first(rows * row_bytes), scratch));
  ASSERT_EQ(out.back(), 77) << "wrote past the end";
  out.pop_back();
  ASSERT_EQ(out, undo_plainly(filtered, above)) << target << ": " << rows << " rows of " << pixels << " pixels of "
                                                << pixel_bytes << " bytes, filter " << only_filter;
}

TEST(PngFilters, are_undone_as_the_specification_says_for_every_kind_of_pixel_and_size) {
  on_every_target([](const char* target) {
    for (const int pixel_bytes : {1, 2, 3, 4, 6, 8}) {
      for (const std::size_t rows : {1, 2, 15, 16, 17, 63, 64, 65, 130}) {
        for (const std::size_t pixels : {1, 2, 15, 16, 17, 33, 100})
          check(rows, pixels, pixel_bytes, -1, rows % 2 == 0, target);
      }
    }
  });
}

TEST(PngFilters, are_each_undone_alone) {
  on_every_target([](const char* target) {
    for (int filter = 0; filter <= 4; ++filter) check(70, 50, 1, filter, true, target);
  });
}

// Tests values of a, b and c that are close to each other or at the ends. All 2^24 would take too long on every target.
TEST(PngFilters, choose_paeth_s_neighbour_in_every_order) {
  std::vector<int> values;
  for (int v = 0; v < 256; v += v < 6 || v > 249 ? 1 : 9) values.push_back(v);
  on_every_target([&](const char* target) {
    runtime::AlignedBuffer scratch;
    for (const int c : values) {
      for (const int b : values) {
        Row bytes, expected;
        for (const int a : values) {
          // The first pixel has c above it and becomes a. The second has b above it and a to its left.
          bytes.insert(bytes.end(), {4, static_cast<std::uint8_t>(a - c), 0});
          expected.push_back(static_cast<std::uint8_t>(paeth_of(a, b, c)));
        }
        const Row above{static_cast<std::uint8_t>(c), static_cast<std::uint8_t>(b)};
        for (std::size_t i = 0; i < values.size(); ++i) {
          const FilteredRows one{.bytes = std::span(bytes).subspan(3 * i, 3), .row_bytes = 2, .pixel_bytes = 1};
          Row out(2);
          ASSERT_TRUE(undo_row_filters(one, above, out, scratch));
          ASSERT_EQ(out[1], expected[i]) << target << ": a " << values[i] << " b " << b << " c " << c;
        }
      }
    }
  });
}

TEST(PngFilters, that_do_not_exist_are_refused) {
  on_every_target([](const char*) {
    Row bytes(70 * 11, 1);
    bytes[69 * 11] = 5;
    Row out(70 * 10);
    runtime::AlignedBuffer scratch;
    EXPECT_FALSE(undo_row_filters({.bytes = bytes, .row_bytes = 10, .pixel_bytes = 1}, {}, out, scratch));
  });
}

}  // namespace
}  // namespace roentgen::data
