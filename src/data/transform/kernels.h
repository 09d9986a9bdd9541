// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Inner loops of a resize, compiled for several instruction sets and chosen at run time (Highway). Sums are float32 and
// use fused multiply-add if available. The last bit may differ between instruction sets, but never between runs or
// thread counts.
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

/// Ratio of 16-bit to 8-bit levels: 65535 / 255.
inline constexpr float kWideLevels = 257.0F;

/// Computes dst[x] = sum over k < weights.size() of weights[k] * level(rows[k][x]), for x < dst.size(). The level of an
/// 8-bit sample is the sample. The level of a 16-bit sample is float32(sample * float32(1 / 257)), which is exactly v
/// if the sample is 257 v. The relative error of float32(1 / 257) is 2^-32, far less than half a unit in the last place
/// of v. So a picture stored with 8 or 16 bits gives bit-identical results.
void mix_rows(SourceRows<std::uint8_t> rows, std::span<const float> weights, std::span<float> dst);
void mix_rows(SourceRows<std::uint16_t> rows, std::span<const float> weights, std::span<float> dst);

/// Computes dst[i] = sum over k of taps.weights(i)[k] * row[taps.first(i) + k] for all outputs of `taps`. Reads up to
/// taps.stride() elements from each first one. So `row` must have stride() finite values beyond the source.
void mix_columns(std::span<const float> row, const Taps& taps, std::span<float> dst);

/// Last step: v = clamp(level * gain + offset, 0, 1), then x = v * scale + bias.
struct Finish {
  float gain = 1.0F;
  float offset = 0.0F;
  float scale = 1.0F;
  float bias = 0.0F;
};

/// A row of samples, one per output pixel.
template <typename T>
struct SampleRow {
  std::span<const T> samples;
  /// True if outputs take the samples from last to first.
  bool is_mirrored = false;
};

/// Destination of a finished row: float32, 8-bit or 16-bit values.
using OutputRow = std::variant<std::span<float>, std::span<std::uint8_t>, std::span<std::uint16_t>>;

/// Computes dst[i] = x for levels[i], or for the level of a sample as in mix_rows(). Integer outputs are rounded half
/// up; scale and bias must keep them within the type.
void finish_row(std::span<const float> levels, const Finish& finish, OutputRow dst);
void finish_row(SampleRow<std::uint8_t> source, const Finish& finish, OutputRow dst);
void finish_row(SampleRow<std::uint16_t> source, const Finish& finish, OutputRow dst);

}  // namespace roentgen::data
