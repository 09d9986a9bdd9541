// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/convert/image_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <unordered_set>

#include "core/error.h"
#include "core/foreign_text.h"
#include "core/lower_case.h"
#include "data/source/image_index.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path) {
  return !path.empty() && path.is_relative() && path.has_filename() &&
         std::ranges::none_of(path, [](const fs::path& part) { return part == ".." || part == "."; });
}

// A column of labels.csv: its name and the field of a sample that it contains.
struct Column {
  std::string_view name;
  std::string (*field)(const Sample& sample);
};
constexpr std::array<Column, 6> kColumns{{
    {"id", [](const Sample& sample) { return sample.id; }},
    {"patient", [](const Sample& sample) { return sample.patient; }},
    {"split", [](const Sample& sample) { return std::string(name_of(sample.split)); }},
    {"view", [](const Sample& sample) { return sample.view; }},
    {"sex", [](const Sample& sample) { return sample.sex; }},
    {"age",
     [](const Sample& sample) { return std::isnan(sample.age_years) ? "" : fmt::format("{}", sample.age_years); }},
}};
/// Other column names that source/csv.cpp recognises.
constexpr std::array<std::string_view, 9> kOtherNames{
    "path", "file", "filename", "image", "gender", "patient_id", "patient id", "view_position", "view position"};

void check_labels(const Dataset& dataset) {
  for (const std::string& label : dataset.label_names) {
    const std::string small = lower_case(label);
    const bool is_taken = std::ranges::find(kColumns, small, &Column::name) != kColumns.end() ||
                          std::ranges::find(kOtherNames, small) != kOtherNames.end();
    if (!is_taken) continue;
    throw ConfigError(error_text("data.convert", label, "a label whose name no other column of labels.csv has",
                                 "the name of another column", "--to tfrecord, or renaming the label in its table"));
  }
}

}  // namespace

std::vector<std::string> image_file_names(const Dataset& dataset, std::string_view ending) {
  std::vector<std::string> names;
  std::unordered_set<std::string> taken;
  for (const Sample& sample : dataset.samples) {
    fs::path path = fs::path(sample.id).lexically_normal();
    if (!is_below(path)) path = fmt::format("{:08}", names.size());
    std::string name = (has_image_extension(path) ? fs::path(path).replace_extension() : path).string();
    if (taken.contains(name)) name = path.string();
    for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}-{}", path.string(), i);
    names.push_back(fmt::format("images/{}{}", name, ending));
  }
  return names;
}

std::string image_table(const Dataset& dataset, const std::vector<std::string>& names) {
  check_labels(dataset);
  const auto has = [&](const Column& column) {
    return std::ranges::any_of(dataset.samples, [&](const Sample& sample) { return !column.field(sample).empty(); });
  };
  std::vector<Column> columns;
  std::ranges::copy_if(kColumns, std::back_inserter(columns), has);
  std::string text = "path";
  for (const Column& column : columns) text += fmt::format(",{}", column.name);
  for (const std::string& label : dataset.label_names) text += "," + csv_field(label);
  text += '\n';
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Sample& sample = dataset.samples[i];
    text += csv_field(names[i]);
    for (const Column& column : columns) text += "," + csv_field(column.field(sample));
    for (const float label : sample.labels) text += std::isnan(label) ? "," : fmt::format(",{:.0f}", label);
    text += '\n';
  }
  return text;
}

}  // namespace roentgen::data
