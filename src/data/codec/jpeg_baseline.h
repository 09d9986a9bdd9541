// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parses the header segments of a baseline JPEG file (ITU-T T.81, annexes B and C): sizes, tables, and the
// position of the entropy-coded bytes. Only jpeg_luma.cpp and tests include this file. libjpeg decodes every other JPEG
// file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace roentgen::data {

/// Huffman code of coefficients, with lookup tables for the decoder's inner loop. Internal to the baseline decoder.
struct JpegCode {
  /// Number of bits that index the lookup table.
  static constexpr int kLookBits = 11;
  /// Length of the longest code, in bits.
  static constexpr int kMostBits = 16;
  /// Value of `skip` that means "no more coefficients in this block".
  static constexpr int kEndOfBlock = 128;

  /// Table entry for the next kLookBits bits. `skip` is the number of coefficients that the symbol covers, and the last
  /// of them has the value `value`. `bits` is the length of code and value together. If these are longer than
  /// kLookBits, `skip` is 0, `bits` is the length of the code and `value` is the symbol. `bits` is 0 if the code itself
  /// is longer than kLookBits or invalid.
  struct Whole {
    std::int16_t value = 0;
    std::uint8_t skip = 0;
    std::uint8_t bits = 0;
  };
  std::array<Whole, 1 << kLookBits> whole{};
  /// Indexed by code length. `end`: the first 16 bits above all codes of that length. `offset`: the index of the first
  /// symbol of that length minus its first code.
  std::array<std::uint32_t, kMostBits + 1> end{};
  std::array<std::int32_t, kMostBits + 1> offset{};
  std::array<std::uint8_t, 256> symbols{};
  int symbol_count = 0;
};

/// Kind of coefficients that a code stands for. Dc: a symbol is the size of a difference. Ac: a symbol is a run of
/// zeros and a size.
enum class JpegBand : std::uint8_t { Dc, Ac };

/// Builds a code from the number of codes of each length (16) and the symbols. Returns nullopt if this is no prefix
/// code, or if a symbol cannot occur in an 8-bit baseline file.
[[nodiscard]] std::optional<JpegCode> make_jpeg_code(std::span<const std::uint8_t> counts,
                                                     std::span<const std::uint8_t> symbols, JpegBand band);

/// Header of a Huffman-coded 8-bit file with a single scan of one or three components.
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
  /// Quantisation tables by table number; entries in row-major order, not zigzag.
  std::array<std::optional<std::array<std::int32_t, 64>>, 4> quantisation;
  std::array<std::optional<JpegCode>, 4> dc;
  std::array<std::optional<JpegCode>, 4> ac;
  /// Number of units (MCUs) between restart markers; 0: no markers.
  int restart_units = 0;
  /// Bytes from the first entropy-coded byte to the end of the file.
  std::span<const std::byte> scan;
};

/// Row-major index (8 * row + column) of each coefficient, in the order of the file.
[[nodiscard]] const std::array<std::uint8_t, 64>& jpeg_zigzag();

/// Parses a file. Returns nullopt for other kinds of JPEG and for unusual files, which libjpeg should decode.
[[nodiscard]] std::optional<BaselineJpeg> read_baseline_jpeg(std::span<const std::byte> file);

}  // namespace roentgen::data
