// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Lossless streams with all predictors, restart markers and point transforms. The test encodes them itself.
#include "data/codec/dicom/jpeg_entropy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/random.h"

namespace roentgen::data {
namespace {

struct Form {
  int predictor = 1;
  int low_bit = 0;
  /// Number of rows between restart markers; 0: none.
  int restart_rows = 0;
  int precision = 12;
};

constexpr int kWidth_px = 9, kHeight_px = 7;

std::string word(int value) { return {static_cast<char>(value >> 8), static_cast<char>(value & 255)}; }

/// Writes bits, and the zero byte after each 0xFF.
class BitWriter {
 public:
  void put(std::uint32_t value, int bits) {
    for (int bit = bits - 1; bit >= 0; --bit) {
      byte_ = byte_ << 1U | ((value >> static_cast<unsigned>(bit)) & 1U);
      if (++count_ == 8) flush();
    }
  }
  void pad() {
    while (count_ != 0) put(1, 1);
  }
  void marker(int second) { out_ += std::string("\xFF") + static_cast<char>(second); }
  [[nodiscard]] const std::string& out() const { return out_; }

 private:
  void flush() {
    out_ += static_cast<char>(byte_);
    if (byte_ == 0xFF) out_ += '\0';
    byte_ = 0;
    count_ = 0;
  }
  std::string out_;
  std::uint32_t byte_ = 0;
  int count_ = 0;
};

// Writes a difference. Its sizes 0 to 16 have codes of five bits, in this order.
void put_difference(BitWriter& bits, int difference) {
  difference &= 0xFFFF;
  if (difference >= 32768) difference -= 65536;
  int size = 0;
  while (size < 16 && std::abs(difference) >= 1 << size) ++size;
  bits.put(static_cast<std::uint32_t>(size), 5);
  if (size > 0 && size < 16) {
    const int value = difference < 0 ? difference + (1 << size) - 1 : difference;
    bits.put(static_cast<std::uint32_t>(value), size);
  }
}

int prediction_at(const std::vector<int>& samples, int x, int y, int first_row, const Form& form) {
  const auto at = [&](int column, int row) { return samples[static_cast<std::size_t>(row * kWidth_px + column)]; };
  if (y == first_row) return x == 0 ? 1 << (form.precision - form.low_bit - 1) : at(x - 1, y);
  if (x == 0) return at(x, y - 1);
  const int a = at(x - 1, y), b = at(x, y - 1), c = at(x - 1, y - 1);
  const std::vector<int> by_number{0, a, b, c, a + b - c, a + ((b - c) >> 1), b + ((a - c) >> 1), (a + b) >> 1};
  return by_number[static_cast<std::size_t>(form.predictor)];
}

std::string encode(const std::vector<std::uint16_t>& levels, const Form& form) {
  std::vector<int> samples;
  for (const std::uint16_t level : levels) samples.push_back(level >> form.low_bit);
  BitWriter bits;
  int first_row = 0;
  for (int y = 0; y < kHeight_px; ++y) {
    if (form.restart_rows > 0 && y > 0 && y % form.restart_rows == 0) {
      bits.pad();
      bits.marker(0xD0 + (y / form.restart_rows - 1) % 8);
      first_row = y;
    }
    for (int x = 0; x < kWidth_px; ++x) {
      const int sample = samples[static_cast<std::size_t>(y * kWidth_px + x)];
      put_difference(bits, sample - prediction_at(samples, x, y, first_row, form));
    }
  }
  bits.pad();
  std::string table = std::string(1, '\0') + std::string(4, '\0') + '\x11' + std::string(11, '\0');
  for (char size = 0; size <= 16; ++size) table += size;
  const std::string frame = std::string(1, static_cast<char>(form.precision)) + word(kHeight_px) + word(kWidth_px) +
                            std::string("\1\1\x11\0", 4);
  const std::string scan =
      std::string("\1\1\0", 3) + static_cast<char>(form.predictor) + '\0' + static_cast<char>(form.low_bit);
  const auto segment = [](char marker, const std::string& payload) {
    return std::string("\xFF") + marker + word(static_cast<int>(payload.size()) + 2) + payload;
  };
  return "\xFF\xD8" + segment('\xC4', table) + segment('\xC3', frame) +
         (form.restart_rows > 0 ? segment('\xDD', word(form.restart_rows * kWidth_px)) : "") + segment('\xDA', scan) +
         bits.out() + "\xFF\xD9";
}

std::vector<std::uint16_t> picture(int bits) {
  Random random(5, RandomStage::Test);
  std::vector<std::uint16_t> levels;
  for (int i = 0; i < kWidth_px * kHeight_px; ++i) {
    levels.push_back(static_cast<std::uint16_t>(random.below(std::uint64_t{1} << static_cast<unsigned>(bits))));
  }
  return levels;
}

std::string_view decode(const std::string& stream, std::vector<std::uint16_t>& levels) {
  const auto frame = read_jpeg_frame(std::as_bytes(std::span(stream)));
  if (!frame) return "no frame";
  levels.assign(std::size_t{kWidth_px} * kHeight_px, 0);
  return decode_lossless_jpeg(*frame, levels);
}

TEST(LosslessJpeg, of_every_predictor_restart_interval_and_point_transform_is_decoded) {
  for (int predictor = 1; predictor <= 7; ++predictor) {
    for (const int restart_rows : {0, 1, 3}) {
      for (const int low_bit : {0, 2}) {
        for (const int precision : {8, 12, 16}) {
          const Form form{predictor, low_bit, restart_rows, precision};
          std::vector<std::uint16_t> expected = picture(precision), read;
          EXPECT_EQ(decode(encode(expected, form), read), "") << predictor << " " << restart_rows << " " << low_bit;
          for (std::uint16_t& level : expected) level = static_cast<std::uint16_t>(level >> low_bit << low_bit);
          EXPECT_EQ(read, expected) << predictor << " " << restart_rows << " " << low_bit << " " << precision;
        }
      }
    }
  }
}

TEST(LosslessJpeg, that_is_damaged_has_a_fault) {
  const std::vector<std::uint16_t> levels = picture(12);
  std::vector<std::uint16_t> read;
  std::string restarts = encode(levels, {.restart_rows = 2});
  const std::size_t first = restarts.find("\xFF\xD0");
  restarts[first + 1] = '\xD3';
  EXPECT_EQ(decode(restarts, read), "a restart marker out of order");
  std::string surplus = encode(levels, {});
  surplus.insert(surplus.size() - 2, "\x55\x55");
  EXPECT_EQ(decode(surplus, read), "surplus data");
  std::string missing = encode(levels, {});
  missing.erase(missing.size() - 6, 4);
  EXPECT_EQ(decode(missing, read), "truncated data");
  EXPECT_EQ(decode(encode(picture(14), {}), read), "a pixel value with more bits than the header states");
  EXPECT_EQ(decode(encode(levels, {.predictor = 0}), read), "damaged or missing tables or scan headers");
}

}  // namespace
}  // namespace roentgen::data
