// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/preprocess.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "data/codec/intensity.h"

namespace roentgen::data {
namespace {

constexpr std::string_view kThing = "data.preprocess";
constexpr std::string_view kRemedy = "roentgen train --keys for all keys and what they take";
constexpr std::int64_t kMaxSize_px = 16384;
constexpr std::array<std::string_view, 3> kFits{"squash", "crop", "pad"};
constexpr std::array<std::string_view, 2> kFilters{"triangle", "area"};
constexpr std::array<std::string_view, 2> kJpegSizes{"exact", "scaled"};
constexpr std::array<std::string_view, 10> kKeys{"preset", "size", "resize",    "channels", "fit",
                                                 "filter", "jpeg", "intensity", "mean",     "std"};

struct Named {
  std::string_view name;
  Preprocess preprocess;
};

const std::array<Named, 4>& presets() {
  static const std::array<Named, 4> kPresets{
      Named{"xray", {}},
      Named{"imagenet", {.channels = 3, .mean = {0.485, 0.456, 0.406}, .stddev = {0.229, 0.224, 0.225}}},
      // Maps v in [0, 1] to 2048 v - 1024.
      Named{"xrv", {.fit = Fit::Crop, .intensity = "xrv", .mean = {0.5}, .stddev = {1.0 / 2048.0}}},
      Named{"unit", {.mean = {0.0}, .stddev = {1.0}}}};
  return kPresets;
}

template <std::size_t Count>
std::size_t index_of(std::string_view text, const std::array<std::string_view, Count>& names, std::string_view key) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    throw ConfigError(error_text(kThing, key, fmt::format("one of {}", fmt::join(names, ", ")), text, kRemedy));
  }
  return static_cast<std::size_t>(found - names.begin());
}

[[noreturn]] void wrong_kind(std::string_view key, std::string_view expected, const Value& got) {
  throw ConfigError(error_text(kThing, key, expected, fmt::format("a value that is {}", got.kind()), kRemedy));
}
const std::string& text_of(const Value& value, std::string_view key) {
  if (!value.is_string()) wrong_kind(key, "a text", value);
  return value.as_string();
}
std::int64_t integer_of(const Value& value, std::string_view key) {
  if (!value.is_integer()) wrong_kind(key, "a whole number", value);
  return value.as_integer();
}

Value array_of(const std::vector<double>& numbers) {
  Value array = Value::array();
  for (const double number : numbers) array.push_back(number);
  return array;
}

// Reads a number, or an array of one or `channels` numbers.
std::vector<double> per_channel(const Value& value, int channels, std::string_view key) {
  std::vector<double> numbers;
  if (value.is_number()) {
    numbers.push_back(value.as_double());
  } else {
    if (!value.is_array()) wrong_kind(key, "a number, or one for each channel", value);
    for (const Value& number : value.as_array()) {
      if (!number.is_number()) wrong_kind(key, "numbers", number);
      numbers.push_back(number.as_double());
    }
  }
  if (numbers.size() == 1) numbers.assign(static_cast<std::size_t>(channels), numbers[0]);
  if (numbers.size() != static_cast<std::size_t>(channels)) {
    throw ConfigError(error_text(kThing, key,
                                 channels == 1 ? std::string("one number") : fmt::format("1 or {} numbers", channels),
                                 std::to_string(numbers.size()), "one number for all channels"));
  }
  const bool finite = std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
  if (!finite) {
    throw ConfigError(error_text(kThing, key, "finite numbers", fmt::format("{}", fmt::join(numbers, ", ")), kRemedy));
  }
  return numbers;
}

void check_keys(const Value& table) {
  for (const auto& [key, value] : table.as_table()) {
    if (std::ranges::find(kKeys, key) == kKeys.end()) {
      throw ConfigError(error_text(kThing, "key", fmt::format("one of {}", fmt::join(kKeys, ", ")), key, kRemedy));
    }
  }
}

void read_normalisation(const Value& table, Preprocess& preprocess) {
  if (const Value* mean = table.find("mean")) preprocess.mean = per_channel(*mean, preprocess.channels, "mean");
  if (const Value* stddev = table.find("std")) preprocess.stddev = per_channel(*stddev, preprocess.channels, "std");
  for (const double stddev : preprocess.stddev) {
    if (stddev > 0.0) continue;
    throw ConfigError(error_text(kThing, "std", "positive numbers", fmt::format("{}", stddev), kRemedy));
  }
}

}  // namespace

std::string_view name_of(Fit fit) { return kFits.at(static_cast<std::size_t>(fit)); }
Fit parse_fit(std::string_view text) { return static_cast<Fit>(index_of(text, kFits, "fit")); }
std::string_view name_of(Filter filter) { return kFilters.at(static_cast<std::size_t>(filter)); }
Filter parse_filter(std::string_view text) { return static_cast<Filter>(index_of(text, kFilters, "filter")); }
std::string_view name_of(JpegSize jpeg) { return kJpegSizes.at(static_cast<std::size_t>(jpeg)); }
JpegSize parse_jpeg_size(std::string_view text) { return static_cast<JpegSize>(index_of(text, kJpegSizes, "jpeg")); }

Value Preprocess::to_value() const {
  Value table = Value::table();
  table.set("size", size_px);
  table.set("resize", resize_px);
  table.set("channels", channels);
  table.set("fit", name_of(fit));
  table.set("filter", name_of(filter));
  table.set("jpeg", name_of(jpeg));
  table.set("intensity", intensity);
  table.set("mean", array_of(mean));
  table.set("std", array_of(stddev));
  return table;
}

std::string Preprocess::text() const {
  const std::string_view name = preset_name(*this);
  const bool is_plain = intensity == Preprocess().intensity;
  return fmt::format("{}x{}{} {}, {}, {}{}, {}(v - {:g}) / {:g}{}", size_px, size_px,
                     is_cut() ? fmt::format(" of {0}x{0}", resize_px) : "", channels == 1 ? "gray" : "RGB",
                     name_of(fit), name_of(filter), jpeg == JpegSize::Scaled ? ", scaled JPEG" : "",
                     is_plain ? "" : fmt::format("DICOM as {}, ", intensity), fmt::join(mean, " "),
                     fmt::join(stddev, " "), name.empty() ? "" : fmt::format(" ({})", name));
}

Preprocess preset(std::string_view name) {
  for (const Named& named : presets()) {
    if (named.name == name) return named.preprocess;
  }
  std::vector<std::string_view> names;
  for (const Named& named : presets()) names.push_back(named.name);
  throw ConfigError(
      error_text(kThing, "preset", fmt::format("one of {}", fmt::join(names, ", ")), name, "xray or imagenet"));
}

Preprocess with_channels(Preprocess preprocess, int channels) {
  if (channels != 1 && channels != 3) {
    throw ConfigError(error_text(kThing, "channels", "1 or 3", std::to_string(channels), kRemedy));
  }
  for (std::vector<double>* numbers : {&preprocess.mean, &preprocess.stddev}) {
    const double average =
        std::accumulate(numbers->begin(), numbers->end(), 0.0) / static_cast<double>(numbers->size());
    if (channels != preprocess.channels) numbers->assign(static_cast<std::size_t>(channels), average);
  }
  preprocess.channels = channels;
  return preprocess;
}

std::string_view preset_name(const Preprocess& preprocess) {
  for (const Named& named : presets()) {
    const Preprocess other = with_channels(named.preprocess, preprocess.channels);
    if (other.mean == preprocess.mean && other.stddev == preprocess.stddev) return named.name;
  }
  return "";
}

Preprocess preprocess_from_value(const Value& table) {
  check_keys(table);
  const Value* name = table.find("preset");
  Preprocess preprocess = preset(name != nullptr ? text_of(*name, "preset") : "xray");
  if (const Value* channels = table.find("channels")) {
    const std::int64_t count = integer_of(*channels, "channels");
    preprocess = with_channels(preprocess, static_cast<int>(std::clamp<std::int64_t>(count, -1, 1 << 20)));
  }
  read_normalisation(table, preprocess);
  if (const Value* size = table.find("size")) preprocess.size_px = integer_of(*size, "size");
  if (preprocess.size_px < 1 || preprocess.size_px > kMaxSize_px) {
    throw ConfigError(error_text(kThing, "size", fmt::format("1 to {} pixels", kMaxSize_px),
                                 std::to_string(preprocess.size_px), kRemedy));
  }
  if (const Value* resize = table.find("resize")) preprocess.resize_px = integer_of(*resize, "resize");
  if (preprocess.resize_px != 0 && (preprocess.resize_px < preprocess.size_px || preprocess.resize_px > kMaxSize_px)) {
    throw ConfigError(error_text(kThing, "resize",
                                 fmt::format("0, or {} to {} pixels", preprocess.size_px, kMaxSize_px),
                                 std::to_string(preprocess.resize_px), "256 for crops of 224"));
  }
  if (const Value* fit = table.find("fit")) preprocess.fit = parse_fit(text_of(*fit, "fit"));
  if (const Value* filter = table.find("filter")) preprocess.filter = parse_filter(text_of(*filter, "filter"));
  if (const Value* jpeg = table.find("jpeg")) preprocess.jpeg = parse_jpeg_size(text_of(*jpeg, "jpeg"));
  if (const Value* intensity = table.find("intensity")) {
    preprocess.intensity = name_of(parse_intensity(text_of(*intensity, "intensity")));
  }
  return preprocess;
}

}  // namespace roentgen::data
