// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/describe.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/foreign_text.h"
#include "core/plural.h"

namespace roentgen::data {
namespace {

using Counts = std::map<std::string, std::int64_t>;

constexpr std::size_t kShownDigits = 12;  // digits of a hash in terminal output; data.json has all

Counts count_of(const Dataset& dataset, std::string Sample::*member) {
  Counts counts;
  for (const auto& sample : dataset.samples) ++counts[sample.*member];
  return counts;
}

std::vector<float> sorted_ages(const Dataset& dataset) {
  std::vector<float> ages;
  for (const auto& sample : dataset.samples) {
    if (!std::isnan(sample.age_years)) ages.push_back(sample.age_years);
  }
  std::sort(ages.begin(), ages.end());
  return ages;
}

/// Number of images from one part.
std::int64_t images_of(const Dataset& dataset, std::size_t part) {
  return std::ranges::count(dataset.samples, part, &Sample::part);
}

/// One line per data set if there are several.
std::string parts_text(const Dataset& dataset) {
  if (dataset.parts.size() < 2) return fmt::format("{:<9} {}\n", "splits", dataset.split_origin);
  std::string text;
  for (std::size_t i = 0; i < dataset.parts.size(); ++i) {
    const DatasetPart& part = dataset.parts[i];
    text += fmt::format("{:<9} {} ({}): {} in {}, {} of {} known; {}\n", "part", terminal_text(part.name), part.source,
                        counted(images_of(dataset, i), "image"), terminal_text(part.root.string()),
                        part.known_labels.size(), counted(std::ssize(dataset.label_names), "label"), part.split_origin);
  }
  return text;
}

Value parts_value(const Dataset& dataset) {
  Value parts = Value::array();
  for (std::size_t i = 0; i < dataset.parts.size(); ++i) {
    const DatasetPart& part = dataset.parts[i];
    Value labels = Value::array();
    for (const std::string& label : part.known_labels) labels.push_back(label);
    parts.push_back(Value::Table{{"name", part.name},
                                 {"source", part.source},
                                 {"images", images_of(dataset, i)},
                                 {"split_origin", part.split_origin},
                                 {"known_labels", std::move(labels)}});
  }
  return parts;
}

Value counts_value(const Counts& counts) {
  Value table = Value::table();
  for (const auto& [name, count] : counts) table.set(name, count);
  return table;
}

Value summary_value(const Dataset& dataset, const SplitSummary& summary) {
  Value labels = Value::table();
  for (std::size_t k = 0; k < dataset.label_names.size(); ++k) {
    Value& label = labels.set(dataset.label_names[k], Value::table());
    label.set("positives", summary.labels[k].positives);
    label.set("negatives", summary.labels[k].negatives);
    label.set("unknown", summary.labels[k].unknown);
  }
  Value table = Value::table();
  table.set("images", summary.images);
  table.set("patients", summary.patients);
  table.set("list_sha256", summary.list_sha256);
  table.set("labels", std::move(labels));
  return table;
}

std::string counts_text(std::string_view title, const Counts& counts) {
  if (counts.size() == 1 && counts.begin()->first.empty()) return fmt::format("{:<9} unknown\n", title);
  std::string text;
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name.empty() ? "unknown" : terminal_text(name), count);
  }
  return fmt::format("{:<9} {}\n", title, text);
}

/// Table "label  train  val  test". Splits without images have no column.
std::string label_table(const Dataset& dataset) {
  std::size_t width = 9;
  for (const auto& name : dataset.label_names) width = std::max(width, terminal_text(name).size());
  std::string text = fmt::format("{:<{}}", "positives", width);
  for (const auto& summary : dataset.summaries) {
    if (summary.images > 0) text += fmt::format("  {:>16}", name_of(summary.split));
  }
  text += '\n';
  for (std::size_t k = 0; k < dataset.label_names.size(); ++k) {
    text += fmt::format("{:<{}}", terminal_text(dataset.label_names[k]), width);
    for (const auto& summary : dataset.summaries) {
      if (summary.images == 0) continue;
      const LabelCounts& counts = summary.labels[k];
      const std::int64_t known = counts.positives + counts.negatives;
      text += fmt::format("  {:>7} of {:>5}", counts.positives, known);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string describe(const Dataset& dataset) {
  std::string text =
      fmt::format("{:<9} {} ({})", "source", dataset.source, counted(std::ssize(dataset.samples), "image"));
  text += dataset.parts.size() > 1 ? "\n" : fmt::format(" in {}\n", terminal_text(dataset.root.string()));
  for (std::size_t i = 0; i < dataset.csv.size(); ++i) {
    text += fmt::format("{:<9} {}, sha256 {}\n", "csv", terminal_text(dataset.csv[i].filename().string()),
                        dataset.csv_sha256.at(i).substr(0, kShownDigits));
  }
  text += parts_text(dataset);
  for (const auto& summary : dataset.summaries) {
    if (summary.images == 0) continue;
    text += fmt::format("{:<9} {}, {}, list {}\n", name_of(summary.split), counted(summary.images, "image"),
                        summary.patients == 0 ? "unknown patients" : counted(summary.patients, "patient"),
                        summary.list_sha256.substr(0, kShownDigits));
  }
  text += counts_text("views", count_of(dataset, &Sample::view));
  text += counts_text("sexes", count_of(dataset, &Sample::sex));
  if (const auto ages = sorted_ages(dataset); !ages.empty()) {
    text += fmt::format("{:<9} {:g} to {:g} years, median {:g} ({} known)\n", "ages", ages.front(), ages.back(),
                        ages[ages.size() / 2], ages.size());
  }
  text += label_table(dataset);
  for (const auto& note : dataset.notes) text += fmt::format("{:<9} {}\n", "note", terminal_text(note));
  return text;
}

std::string label_notes(const Dataset& dataset) {
  std::string text;
  for (std::size_t i = 0; i < dataset.csv.size(); ++i) {
    text += fmt::format("labels: {}, sha256 {}\n", terminal_text(dataset.csv[i].filename().string()),
                        dataset.csv_sha256.at(i).substr(0, kShownDigits));
  }
  for (const std::string& note : dataset.notes) text += fmt::format("note: {}\n", terminal_text(note));
  return text;
}

Value tables_value(const Dataset& dataset) {
  Value tables = Value::array();
  for (std::size_t i = 0; i < dataset.csv.size(); ++i) {
    tables.push_back(Value::Table{{"file", dataset.csv[i].filename().string()}, {"sha256", dataset.csv_sha256.at(i)}});
  }
  return tables;
}

Value describe_value(const Dataset& dataset) {
  Value table = Value::table();
  table.set("source", dataset.source);
  if (dataset.parts.size() > 1) table.set("sources", parts_value(dataset));
  table.set("csv", tables_value(dataset));
  table.set("split_origin", dataset.split_origin);
  Value& splits = table.set("splits", Value::table());
  for (const auto& summary : dataset.summaries) {
    if (summary.images > 0) splits.set(name_of(summary.split), summary_value(dataset, summary));
  }
  table.set("views", counts_value(count_of(dataset, &Sample::view)));
  table.set("sexes", counts_value(count_of(dataset, &Sample::sex)));
  if (const auto ages = sorted_ages(dataset); !ages.empty()) {
    Value& age = table.set("age", Value::table());
    age.set("known", static_cast<std::int64_t>(ages.size()));
    age.set("min", static_cast<double>(ages.front()));
    age.set("median", static_cast<double>(ages[ages.size() / 2]));
    age.set("max", static_cast<double>(ages.back()));
  }
  Value& notes = table.set("notes", Value::array());
  for (const auto& note : dataset.notes) notes.push_back(note);
  return table;
}

}  // namespace roentgen::data
