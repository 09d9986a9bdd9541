// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/storage.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <thread>
#include <utility>

#include "core/error.h"

namespace roentgen::data {
namespace {

constexpr double kReadPiece_bytes = 1 << 20;
constexpr double kLongest_s = 10.0;

[[noreturn]] void refuse(std::string_view expected, std::string_view got) {
  throw ConfigError(
      error_text("data.storage", "emulated storage", expected, std::string(got), "open=2ms,read=1ms,opens_per_s=1000"));
}

// Parses a number at the start of `text` and removes it.
double take_number(std::string_view& text, std::string_view whole) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0.0) refuse("a number of at least 0", whole);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

double seconds_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 3> kUnits{{{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}}};
  std::string_view rest = text;
  const double value = take_number(rest, text);
  const auto* const unit = std::ranges::find(kUnits, rest, &std::pair<std::string_view, double>::first);
  if (unit == kUnits.end()) refuse("a time in s, ms or us", text);
  if (value * unit->second > kLongest_s) refuse("at most 10s", text);
  return value * unit->second;
}

double rate_of(std::string_view text) {
  std::string_view rest = text;
  const double value = take_number(rest, text);
  if (!rest.empty() || value < 0.1) refuse("files per second, at least 0.1", text);
  return value;
}

std::chrono::nanoseconds duration(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds));
}

}  // namespace

std::string StorageCosts::text() const {
  std::string text = fmt::format("open={}ms,read={}ms", 1e3 * open_s, 1e3 * read_s);
  if (opens_per_s > 0.0) text += fmt::format(",opens_per_s={}", opens_per_s);
  return text;
}

StorageCosts parse_storage_costs(std::string_view text) {
  StorageCosts costs;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const auto equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    if (name == "open")
      costs.open_s = seconds_of(value);
    else if (name == "read")
      costs.read_s = seconds_of(value);
    else if (name == "opens_per_s")
      costs.opens_per_s = rate_of(value);
    else
      refuse("open=, read= or opens_per_s=", part.empty() ? "nothing" : part);
  }
  if (costs == StorageCosts{}) refuse("at least one of open=, read= and opens_per_s=", "none");
  return costs;
}

void EmulatedStorage::open() {
  ++opened_;
  Clock::time_point turn = Clock::now();
  if (costs_.opens_per_s > 0.0) {
    MutexLock lock(mutex_);
    turn = std::max(turn, next_open_);
    next_open_ = turn + duration(1.0 / costs_.opens_per_s);
  }
  // The wait emulates the cost of opening.
  std::this_thread::sleep_until(turn + duration(costs_.open_s));
}

void EmulatedStorage::read(std::uint64_t bytes) const {
  if (costs_.read_s > 0.0) {
    std::this_thread::sleep_for(duration(costs_.read_s * std::ceil(static_cast<double>(bytes) / kReadPiece_bytes)));
  }
}

}  // namespace roentgen::data
