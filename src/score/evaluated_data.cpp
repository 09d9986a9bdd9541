// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/evaluated_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/error_parts.h"
#include "core/foreign_text.h"
#include "core/log.h"

namespace roentgen::score {
namespace {

// Calls data::load_dataset(). Errors about labels additionally say that the labels come from the checkpoint.
data::Dataset load_data(const data::SourceOptions& source) {
  try {
    return data::load_dataset(source);
  } catch (const Error& error) {
    if (error_parts(error.what()).thing != "data.labels") throw;
    throw ConfigError(with_remedy(error.what(),
                                  "a data folder with the labels that the checkpoint knows or, if they have other "
                                  "names there, --set 'data.label_map={LABEL=\"NAME\"}'"));
  }
}

// True if the data set reader `source.source` fits the data. It also fits if images are missing, repeated or without
// split, because these are faults of the data.
bool can_list(data::SourceOptions source) {
  source.absent = data::Absent::Skip;
  source.duplicates = data::Duplicates::First;
  source.views.clear();
  source.split.mode = data::SplitMode::Whole;
  try {
    return !data::load_dataset(source).samples.empty();
  } catch (const Error&) {
    return false;
  }
}

// Returns options with the data set format detected in the folder, or nullopt if the recipe's format should be kept.
std::optional<data::SourceOptions> find_other(const data::SourceOptions& own, std::span<const std::string> overrides,
                                              const ErrorParts& refusal) {
  const auto is_told = [overrides](std::string_view key) {
    return std::ranges::any_of(overrides, [key](const std::string& text) { return text.starts_with(key); });
  };
  std::error_code ignored;
  if (own.source == "auto" || is_told("data.source=") || !std::filesystem::is_directory(own.root, ignored)) {
    return std::nullopt;
  }
  // Keeps the recipe's format if the table has this format but contains an error, so that the user sees the error.
  if (refusal.thing != "data.labels" && data::fits_source(own)) return std::nullopt;
  if (can_list(own)) return std::nullopt;
  data::SourceOptions other = own;
  other.source = "auto";
  if (!is_told("data.csv=")) other.csv.clear();
  if (!is_told("data.images=")) other.images.clear();
  if (!data::fits_source(other)) return std::nullopt;
  other.source = data::detected_source(other);
  const bool is_same = other.source == own.source && other.csv == own.csv && other.images == own.images;
  return is_same ? std::nullopt : std::optional(std::move(other));
}

// Changes `source` to the data set format detected in the folder. Returns false if the recipe's format is kept.
bool follow(data::SourceOptions& source, std::span<const std::string> overrides, const ErrorParts& refusal) {
  std::optional<data::SourceOptions> other = find_other(source, overrides, refusal);
  if (!other) return false;
  const std::string reason = refusal.expected.empty()
                                 ? refusal.got
                                 : fmt::format("{}: expected {}, got {}", refusal.what, refusal.expected, refusal.got);
  const std::string data = source.name.empty() ? "these data" : "the data " + source.name;
  log::info(fmt::format("the model's recipe has data.source={}, which {} do not fit: reading them as {} (as {}, {})",
                        source.source, data, other->source, source.source, reason));
  source = std::move(*other);
  return true;
}

// Calls follow() for each of several data sets that cannot be read in the recipe's format. Returns false if all formats
// are kept.
bool follow_each(data::SourceOptions& all, std::span<const std::string> overrides) {
  bool is_other = false;
  for (data::SourceOptions& own : all.sources) {
    data::SourceOptions source = own;
    source.unknown_labels = data::UnknownLabels::Mask;
    if (source.labels.empty()) source.labels = all.labels;
    try {
      static_cast<void>(data::load_dataset(source));
    } catch (const Error& error) {
      if (!follow(source, overrides, error_parts(error.what()))) continue;
      own.source = source.source;
      own.csv = source.csv;
      own.images = source.images;
      is_other = true;
    }
  }
  return is_other;
}

}  // namespace

data::Dataset load_evaluated(data::SourceOptions& source, std::span<const std::string> overrides) {
  try {
    return load_data(source);
  } catch (const Error& error) {
    const bool is_other =
        source.sources.empty() ? follow(source, overrides, error_parts(error.what())) : follow_each(source, overrides);
    if (!is_other) throw;
  }
  return load_data(source);
}

std::string absent_text(const data::Dataset& dataset) {
  const std::vector<std::string> absent = data::absent_labels(dataset);
  if (absent.empty()) return {};
  return fmt::format("labels that these data lack, left out of all figures: {} ({} of {})\n",
                     terminal_text(fmt::format("{}", fmt::join(absent, ", "))), absent.size(),
                     dataset.label_names.size());
}

}  // namespace roentgen::score
