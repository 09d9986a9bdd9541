// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parses the segments before the scan of a baseline JPEG file (ITU-T T.81, annexes B and C). They hold sizes, tables,
// and the position of the entropy-coded bytes. Only jpeg_luma.cpp and tests include this. libjpeg decodes every other
// JPEG file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace roentgen::data {

/// A Huffman code of coefficients. Not a public type of the room: plain data for the inner loop.
struct JpegCode {
  /// Bits that are looked up at once.
  static constexpr int kLookBits = 11;
  /// Longest code.
  static constexpr int kMostBits = 16;
  /// `skip` of "no more coefficients in this block".
  static constexpr int kEndOfBlock = 128;

  /// Result of a lookup by the next bits: the last of `skip` coefficients has this value; code and value took `bits`
  /// bits. If code and value are longer than kLookBits, `skip` is 0, `bits` is the code's length and `value` is the
  /// symbol. 0 bits: the code itself is longer, or invalid.
  struct Whole {
    std::int16_t value = 0;
    std::uint8_t skip = 0;
    std::uint8_t bits = 0;
  };
  std::array<Whole, 1 << kLookBits> whole{};
  /// By code length: the first 16 bits beyond the codes of that length, and the index of its first symbol minus its
  /// first code.
  std::array<std::uint32_t, kMostBits + 1> end{};
  std::array<std::int32_t, kMostBits + 1> offset{};
  std::array<std::uint8_t, 256> symbols{};
  int symbol_count = 0;
};

/// Use of the codes of a JpegCode: differences of DC (a symbol is a size), or runs and values of AC.
enum class JpegBand : std::uint8_t { Dc, Ac };

/// Builds a code from the counts of code lengths (16) and the symbols. nullopt: no prefix code, or symbols that no
/// 8-bit baseline file has.
[[nodiscard]] std::optional<JpegCode> make_jpeg_code(std::span<const std::uint8_t> counts,
                                                     std::span<const std::uint8_t> symbols, JpegBand band);

/// A file with a single scan of one or three components, Huffman-coded, 8 bits.
struct BaselineJpeg {
  struct Component {
    int identifier = 0;
    int columns = 1;
    int rows = 1;
    int quantisation = 0;
    int dc = 0;
    int ac = 0;
  };

  std::int64_t width_px = 0;
  std::int64_t height_px = 0;
  std::vector<Component> components;
  /// Tables by number, in the order of rows and columns, not zigzag.
  std::array<std::optional<std::array<std::int32_t, 64>>, 4> quantisation;
  std::array<std::optional<JpegCode>, 4> dc;
  std::array<std::optional<JpegCode>, 4> ac;
  /// Units between restart markers; 0: none.
  int restart_units = 0;
  /// Bytes from the first entropy-coded one to the end of the file.
  std::span<const std::byte> scan;
};

/// Row times 8 plus column of the coefficients in the order of the file.
[[nodiscard]] const std::array<std::uint8_t, 64>& jpeg_zigzag();

/// Returns nullopt for another kind of JPEG, and for anything unusual, which libjpeg should decode.
[[nodiscard]] std::optional<BaselineJpeg> read_baseline_jpeg(std::span<const std::byte> file);

}  // namespace roentgen::data
