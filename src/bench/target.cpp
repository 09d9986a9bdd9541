// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/target.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "core/error.h"
#include "core/value.h"
#include "io/file.h"
#include "io/json.h"

namespace roentgen::bench {
namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw ConfigError(error_text("bench.long", "--target", "auroc=NUMBER or top1=NUMBER, above 0 and at most 1", text,
                               "--target auroc=0.84"));
}

std::optional<double> number_at(const Value& table, std::string_view key) {
  const Value* const value = table.find(key);
  return value != nullptr && value->is_number() ? std::optional(value->as_double()) : std::nullopt;
}

bool is_kind(const Value& line, std::string_view kind) {
  const Value* const value = line.find("kind");
  return value != nullptr && value->is_string() && value->as_string() == kind;
}

void add_update(const Value& line, const std::filesystem::path& log, TargetTime& time) {
  const std::optional<double> seconds = number_at(line, "seconds");
  if (!seconds) {
    throw DataError(error_text("bench.long", log.string(), "updates with their seconds", "a log of an older version",
                               "another --out"));
  }
  time.train_s += *seconds;
  time.images += *seconds * number_at(line, "images_per_s").value_or(0.0);
}

void add_epoch(const Value& line, const Target& target, TargetTime& time) {
  ++time.epochs_done;
  time.val_s += number_at(line, "val_seconds").value_or(0.0);
  const std::optional<double> value = number_at(line, target.key());
  if (!value) return;
  time.best = std::max(time.best.value_or(*value), *value);
  if (*value >= target.value) time.epochs = time.epochs_done;
}

}  // namespace

Target parse_target(std::string_view text) {
  const std::size_t equals = text.find('=');
  Target target{.metric = std::string(text.substr(0, equals))};
  if (equals == std::string_view::npos || (target.metric != "auroc" && target.metric != "top1")) refuse(text);
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + equals + 1, last, target.value);
  if (error != std::errc() || end != last || !(target.value > 0.0 && target.value <= 1.0)) refuse(text);
  return target;
}

TargetTime time_to_target(const Target& target, const std::filesystem::path& log) {
  TargetTime time;
  if (!std::filesystem::exists(log)) return time;
  const std::string text = io::read_text(log).or_throw<DataError>();
  std::string_view rest = text;
  while (!rest.empty() && !time.epochs) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;  // a killed run may leave an incomplete line
    const Value line = io::parse_json(rest.substr(0, end), log.string()).or_throw<DataError>();
    rest.remove_prefix(end + 1);
    if (is_kind(line, "step")) add_update(line, log, time);
    if (is_kind(line, "epoch")) add_epoch(line, target, time);
  }
  return time;
}

}  // namespace roentgen::bench
