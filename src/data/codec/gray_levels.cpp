// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/gray_levels.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"

namespace roentgen::data {
namespace {

constexpr std::uint32_t kWhite8 = 255;
constexpr std::uint32_t kWhite16 = 65535;

constexpr std::uint32_t codes_of(const GrayMeaning& meaning) { return std::uint32_t{1} << meaning.bits_stored; }

std::uint16_t entry_of(const DicomLut& lut, std::int64_t value) {
  const std::int64_t last = static_cast<std::int64_t>(lut.entries.size()) - 1;
  return lut.entries[static_cast<std::size_t>(std::clamp<std::int64_t>(value - lut.first, 0, last))];
}

constexpr std::uint32_t white_of(const DicomLut& lut) { return (std::uint32_t{1} << lut.bits) - 1; }

double modality_value(const GrayMeaning& meaning, std::int64_t stored) {
  if (meaning.modality) return entry_of(*meaning.modality, stored);
  return meaning.slope * static_cast<double>(stored) + meaning.intercept;
}

// Position of a code when codes are sorted by stored value; 0 is the lowest possible value.
std::uint32_t rank_of(std::uint32_t code, const GrayMeaning& meaning) {
  return meaning.is_signed ? code ^ (codes_of(meaning) >> 1U) : code;
}

// Limits a level to white. A file may state 12 bits and contain larger values.
std::uint16_t limited(std::uint32_t level, std::uint32_t white) {
  return static_cast<std::uint16_t>(std::min(level, white));
}

bool is_inverted(const GrayMeaning& meaning, Intensity intensity) {
  return meaning.is_inverted || (meaning.is_shape_inverse && intensity != Intensity::Xrv);
}

void invert(GrayTable& table) {
  for (std::uint16_t& level : table.levels) level = static_cast<std::uint16_t>(table.max_value - level);
}

GrayTable empty_table(const GrayMeaning& meaning, std::uint32_t white) {
  return {
      .levels = std::vector<std::uint16_t>(codes_of(meaning)), .bits = white <= kWhite8 ? 8 : 16, .max_value = white};
}

GrayTable stored_table(const GrayMeaning& meaning) {
  GrayTable table = empty_table(meaning, codes_of(meaning) - 1);
  for (std::uint32_t code = 0; code < codes_of(meaning); ++code) {
    table.levels[code] = static_cast<std::uint16_t>(rank_of(code, meaning));
  }
  return table;
}

// Table for a modality step without a VOI step. Covers the whole range of the modality step's results.
GrayTable modality_table(const GrayMeaning& meaning) {
  if (!meaning.modality) {
    GrayTable table = stored_table(meaning);
    if (meaning.slope < 0.0) invert(table);
    return table;
  }
  GrayTable table = empty_table(meaning, white_of(*meaning.modality));
  for (std::uint32_t code = 0; code < codes_of(meaning); ++code) {
    table.levels[code] = limited(entry_of(*meaning.modality, value_of_code(code, meaning)), table.max_value);
  }
  return table;
}

GrayTable voi_table(const GrayMeaning& meaning) {
  GrayTable table;
  if (meaning.voi) {
    table = empty_table(meaning, white_of(*meaning.voi));
    for (std::uint32_t code = 0; code < codes_of(meaning); ++code) {
      const double value = modality_value(meaning, value_of_code(code, meaning));
      const double bounded = std::clamp(value, -1e9, 1e9);
      table.levels[code] = limited(entry_of(*meaning.voi, std::llround(bounded)), table.max_value);
    }
  } else if (meaning.window) {
    table = empty_table(meaning, kWhite16);
    for (std::uint32_t code = 0; code < codes_of(meaning); ++code) {
      const double value = modality_value(meaning, value_of_code(code, meaning));
      table.levels[code] = static_cast<std::uint16_t>(std::lround(kWhite16 * apply_window(*meaning.window, value)));
    }
  } else {
    table = modality_table(meaning);
  }
  return table;
}

void blacken_padding(const GrayMeaning& meaning, GrayTable& table) {
  if (!meaning.padding) return;
  for (std::uint32_t code = 0; code < codes_of(meaning); ++code) {
    const std::int64_t value = value_of_code(code, meaning);
    if (value >= meaning.padding->first && value <= meaning.padding->second) table.levels[code] = 0;
  }
}

GrayTable in_8_bits(GrayTable table) {
  for (std::uint16_t& level : table.levels) {
    level = static_cast<std::uint16_t>(std::lround(static_cast<double>(kWhite8) * level / table.max_value));
  }
  table.bits = 8;
  table.max_value = kWhite8;
  return table;
}

// Level as Python computes (v - min) / max(v - min) * 255, truncated to 8 bits.
std::uint16_t mimic_level(std::int64_t value, std::int64_t least, std::int64_t most) {
  if (most <= least) return 0;
  const double share = static_cast<double>(value - least) / static_cast<double>(most - least);
  return static_cast<std::uint16_t>(std::clamp(share * 255.0, 0.0, 255.0));
}

// Level as OpenCV's convertScaleAbs computes it with factor 255 / max: in float32, rounded half to even.
std::uint16_t chexpert_level(std::int64_t value, std::int64_t most) {
  if (most <= 0) return 0;
  const float scale = static_cast<float>(255.0 / static_cast<double>(most));
  const float level = std::abs(static_cast<float>(value) * scale);
  return static_cast<std::uint16_t>(std::nearbyint(std::min(level, 255.0F)));
}

GrayTable equalised_table(const GrayMeaning& meaning, Intensity intensity, std::span<const std::uint32_t> counts) {
  RG_ASSERT(counts.size() == codes_of(meaning));
  std::int64_t least = kWhite16 + 1, most = -static_cast<std::int64_t>(kWhite16) - 1;
  for (std::uint32_t code = 0; code < codes_of(meaning); ++code) {
    if (counts[code] == 0) continue;
    least = std::min(least, value_of_code(code, meaning));
    most = std::max(most, value_of_code(code, meaning));
  }
  GrayTable table = empty_table(meaning, kWhite8);
  std::array<std::uint64_t, kWhite8 + 1> histogram{};
  for (std::uint32_t code = 0; code < codes_of(meaning); ++code) {
    if (counts[code] == 0) continue;  // no pixel has this code, so its level does not matter
    const std::int64_t value = value_of_code(code, meaning);
    std::uint16_t level =
        intensity == Intensity::MimicJpg ? mimic_level(value, least, most) : chexpert_level(value, most);
    if (is_inverted(meaning, intensity)) level = static_cast<std::uint16_t>(kWhite8 - level);
    table.levels[code] = level;
    histogram.at(level) += counts[code];
  }
  const std::vector<std::uint8_t> equalised = equalising_table(histogram);
  for (std::uint16_t& level : table.levels) level = equalised[level];
  return table;
}

}  // namespace

std::int64_t value_of_code(std::uint32_t code, const GrayMeaning& meaning) {
  const std::uint32_t sign = codes_of(meaning) >> 1U;
  const bool is_negative = meaning.is_signed && (code & sign) != 0;
  return static_cast<std::int64_t>(code) - (is_negative ? static_cast<std::int64_t>(codes_of(meaning)) : 0);
}

bool is_defined(const VoiWindow& window) {
  if (!std::isfinite(window.center) || !std::isfinite(window.width)) return false;
  return window.function == VoiFunction::Linear ? window.width >= 1.0 : window.width > 0.0;
}

double apply_window(const VoiWindow& window, double value) {
  if (window.function == VoiFunction::Sigmoid) {
    return 1.0 / (1.0 + std::exp(-4.0 * (value - window.center) / window.width));
  }
  const double shift = window.function == VoiFunction::Linear ? 0.5 : 0.0;
  const double center = window.center - shift;
  const double width = window.width - 2.0 * shift;
  if (value <= center - width / 2.0) return 0.0;
  if (value > center + width / 2.0) return 1.0;
  return std::clamp((value - center) / width + 0.5, 0.0, 1.0);
}

GrayTable gray_table(const GrayMeaning& meaning, Intensity intensity, std::span<const std::uint32_t> counts) {
  RG_ASSERT(meaning.bits_stored >= 1 && meaning.bits_stored <= 16);
  if (needs_counts(intensity)) return equalised_table(meaning, intensity, counts);
  GrayTable table = is_viewed(intensity) ? voi_table(meaning) : stored_table(meaning);
  if (is_inverted(meaning, intensity)) invert(table);
  if (is_viewed(intensity)) blacken_padding(meaning, table);
  return intensity == Intensity::Nih ? in_8_bits(std::move(table)) : table;
}

std::vector<std::uint8_t> equalising_table(std::span<const std::uint64_t> counts) {
  RG_ASSERT(counts.size() == kWhite8 + 1);
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts) total += count;
  std::size_t first = 0;
  while (first < kWhite8 && counts[first] == 0) ++first;
  std::vector<std::uint8_t> table(kWhite8 + 1, 0);
  if (counts[first] == total) {
    std::ranges::fill(table, static_cast<std::uint8_t>(first));
    return table;
  }
  const float scale = 255.0F / static_cast<float>(total - counts[first]);
  std::uint64_t sum = 0;
  for (std::size_t level = first + 1; level <= kWhite8; ++level) {
    sum += counts[level];
    table[level] = static_cast<std::uint8_t>(std::clamp(std::nearbyint(static_cast<float>(sum) * scale), 0.0F, 255.0F));
  }
  return table;
}

}  // namespace roentgen::data
