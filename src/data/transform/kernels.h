// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The inner loops of a resize, compiled for several instruction sets and chosen at run time (Highway). Sums are float32
// and fused where the machine can, so the last bit may differ between instruction sets, never between runs or threads.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "data/transform/filter.h"

namespace roentgen::data {

/// Rows of samples: row k begins at samples[k * stride].
template <typename T>
struct SourceRows {
  std::span<const T> samples;
  std::int64_t stride = 0;
};

/// Levels of 16-bit samples to one of 8-bit samples: 65535 / 255.
inline constexpr float kWideLevels = 257.0F;

/// dst[x] = sum over k < weights.size() of weights[k] * level(rows[k][x]), for x < dst.size(). The level of an 8-bit
/// sample is the sample. The level of a 16-bit sample is float32(sample * float32(1 / 257)), which is exactly v where
/// the sample is 257 v. The relative error of float32(1 / 257) is 2^-32, far less than half a unit of v's last place.
/// So a picture stored with 8 or 16 bits gives the same bits.
void mix_rows(SourceRows<std::uint8_t> rows, std::span<const float> weights, std::span<float> dst);
void mix_rows(SourceRows<std::uint16_t> rows, std::span<const float> weights, std::span<float> dst);

/// dst[i] = sum over k of taps.weights(i)[k] * row[taps.first(i) + k], for all outputs of `taps`. Reads up to
/// taps.stride() elements from each first: `row` is that much longer than the source, with finite values there.
void mix_columns(std::span<const float> row, const Taps& taps, std::span<float> dst);

/// v = clamp(level * gain + offset, 0, 1), then x = v * scale + bias.
struct Finish {
  float gain = 1.0F;
  float offset = 0.0F;
  float scale = 1.0F;
  float bias = 0.0F;
};

/// A row of samples, a pixel of output each.
template <typename T>
struct SampleRow {
  std::span<const T> samples;
  /// The last one first.
  bool is_mirrored = false;
};

/// Destination of finished outputs.
using OutputRow = std::variant<std::span<float>, std::span<std::uint8_t>, std::span<std::uint16_t>>;

/// dst[i] = x of levels[i], or of the level of a sample (as mix_rows() has it). Whole numbers are rounded half up;
/// scale and bias keep them within the type.
void finish_row(std::span<const float> levels, const Finish& finish, OutputRow dst);
void finish_row(SampleRow<std::uint8_t> source, const Finish& finish, OutputRow dst);
void finish_row(SampleRow<std::uint16_t> source, const Finish& finish, OutputRow dst);

}  // namespace roentgen::data
