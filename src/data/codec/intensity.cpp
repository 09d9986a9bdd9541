// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/intensity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"

namespace roentgen::data {
namespace {

constexpr std::array<std::string_view, 6> kNames{"stored", "voi", "nih", "mimic-jpg", "chexpert", "xrv"};

}  // namespace

std::string_view name_of(Intensity intensity) { return kNames.at(static_cast<std::size_t>(intensity)); }

Intensity parse_intensity(std::string_view text) {
  const auto found = std::ranges::find(kNames, text);
  if (found == kNames.end()) {
    throw ConfigError(error_text("data.preprocess", "intensity", "one of " + intensity_names(), text, "stored or voi"));
  }
  return static_cast<Intensity>(found - kNames.begin());
}

std::string intensity_names() { return fmt::format("{}", fmt::join(kNames, ", ")); }

}  // namespace roentgen::data
