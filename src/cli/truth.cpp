// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/truth.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/eval_data.h"
#include "cli/study.h"
#include "cli/table_column.h"
#include "core/error.h"
#include "core/error_parts.h"
#include "eval/predictions.h"
#include "io/csv.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

// Tables that a data folder's own source has to read: other columns name the images, or rules beyond one field hold.
bool is_of_a_folder(const fs::path& path, const data::SourceOptions& options) {
  if (options.source != "auto") return options.source != "nih" && options.source != "csv";
  const std::vector<std::string> header = io::read_csv(path).or_throw().header;
  const auto has = [&header](std::string_view name) { return table_column(header, {name}).has_value(); };
  if (has("path") && has("frontal/lateral")) return true;
  if (has("imageid") && has("imagedir")) return true;
  return !image_column(header) && has("subject_id") && has("study_id");
}

std::int8_t as_label(float value) {
  return std::isnan(value) ? eval::kUnknown : static_cast<std::int8_t>(value > 0.5F ? 1 : 0);
}

data::Dataset load(data::SourceOptions options, std::span<const std::string> overrides) {
  try {
    return load_evaluated(options, overrides);
  } catch (const Error& error) {
    const ErrorParts parts = error_parts(error.what());
    if (parts.thing == "data.labels") {
      throw DataError(with_remedy(error.what(), "labels that have what the predictions name, or fewer columns there"));
    }
    if (parts.thing == "data.source" && parts.expected.starts_with("every image")) {
      throw DataError(with_remedy(error.what(), "the data folder, with its images, as --labels"));
    }
    throw;
  }
}

LabelTable table_of(const data::Dataset& dataset, std::string what) {
  LabelTable table{.what = std::move(what)};
  for (std::size_t i = 0; i < dataset.csv.size(); ++i) {
    table.files.push_back({.name = dataset.csv[i].filename().string(), .sha256 = dataset.csv_sha256.at(i)});
  }
  std::vector<std::string> studies = studies_of(dataset);
  for (std::size_t i = 0; i < dataset.samples.size(); ++i) {
    const data::Sample& sample = dataset.samples[i];
    LabelRow row{.image = sample.id,
                 .patient = sample.patient,
                 .study = std::move(studies[i]),
                 .view = sample.view,
                 .sex = sample.sex,
                 .age_years = sample.age_years,
                 .labels = {}};
    for (const float value : sample.labels) row.labels.push_back(as_label(value));
    table.index.add(sample.id, i);
    table.rows.push_back(std::move(row));
  }
  table.absent = data::absent_labels(dataset);
  table.notes = dataset.notes;
  return table;
}

}  // namespace

LabelTable read_truth(const fs::path& path, const std::vector<std::string>& labels, data::SourceOptions options,
                      std::span<const std::string> overrides) {
  options.unknown_labels = data::UnknownLabels::Mask;
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  if (!is_folder && !is_of_a_folder(path, options)) return read_label_table(path, labels, options);
  const fs::path whole = fs::absolute(path).lexically_normal();
  options.root = is_folder ? path : whole.parent_path();
  if (!is_folder) options.csv = {whole};
  options.labels = labels;
  options.split = {.mode = data::SplitMode::Whole};
  std::erase_if(options.label_policies,
                [&labels](const auto& one) { return std::ranges::find(labels, one.first) == labels.end(); });
  return table_of(load(std::move(options), overrides),
                  (whole.has_filename() ? whole : whole.parent_path()).filename().string());
}

void check_data_overrides(std::span<const std::string> overrides) {
  for (const std::string& text : overrides) {
    if (text.starts_with("data.") && !text.starts_with("data.labels")) continue;
    throw ConfigError(error_text("cli.arguments", "--set " + text, "a key of [data] other than labels", text,
                                 "data.split or another key: labels and all else are the model's"));
  }
}

data::SourceOptions data_options(std::span<const std::string> overrides) {
  check_data_overrides(overrides);
  return train::parse_recipe("", "--set", overrides).data;
}

}  // namespace roentgen::cli
