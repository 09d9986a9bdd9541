// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/eval_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/error_parts.h"
#include "core/foreign_text.h"
#include "core/log.h"

namespace roentgen::cli {

void follow_data(data::SourceOptions& source, std::span<const std::string> overrides) {
  const auto is_told = [overrides](std::string_view key) {
    return std::ranges::any_of(overrides, [key](const std::string& text) { return text.starts_with(key); });
  };
  if (!source.sources.empty() || source.source == "auto" || is_told("data.source=") || data::fits_source(source))
    return;
  if (!is_told("data.csv=")) source.csv.clear();
  if (!is_told("data.images=")) source.images.clear();
  const std::string own = std::exchange(source.source, "auto");
  log::info(fmt::format("the model's recipe has data.source={}, which these data do not fit: reading them as {}", own,
                        data::detected_source(source)));
}

data::Dataset load_data(const data::SourceOptions& source) {
  try {
    return data::load_dataset(source);
  } catch (const Error& error) {
    if (error_parts(error.what()).thing != "data.labels") throw;
    throw ConfigError(with_remedy(error.what(), "a data folder with the labels that the checkpoint knows"));
  }
}

std::string labels_text(const data::Dataset& dataset) {
  std::string text;
  for (std::size_t i = 0; i < dataset.csv.size(); ++i) {
    text += fmt::format("labels: {}, sha256 {}\n", terminal_text(dataset.csv[i].filename().string()),
                        dataset.csv_sha256.at(i));
  }
  return text;
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += fmt::format("note: {}\n", terminal_text(note));
  return text;
}

std::string absent_text(const std::vector<std::string>& absent, std::int64_t labels) {
  if (absent.empty()) return {};
  return fmt::format("labels that these data lack, left out of all figures: {} ({} of {})\n",
                     terminal_text(fmt::format("{}", fmt::join(absent, ", "))), absent.size(), labels);
}

Value names_value(const std::vector<std::string>& names) {
  Value array = Value::array();
  for (const std::string& name : names) array.push_back(name);
  return array;
}

Value tables_value(const data::Dataset& dataset) {
  Value tables = Value::array();
  for (std::size_t i = 0; i < dataset.csv.size(); ++i) {
    tables.push_back(Value::Table{{"file", dataset.csv[i].filename().string()}, {"sha256", dataset.csv_sha256.at(i)}});
  }
  return tables;
}

}  // namespace roentgen::cli
