// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The source `chexpert`: train.csv, valid.csv and test.csv with Path, Sex, Age, Frontal/Lateral, AP/PA and a column a
// finding (Irvin et al. 2019). Paths begin with the name of the published folder (CheXpert-v1.0, CheXpert-v1.0-small),
// whatever the folder is called here; the parts in which the full set is handed out ("CheXpert-v1.0 batch 2 (train 1)")
// may lie beside each other. The table's name says the split.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "data/source/chexpert_labels.h"
#include "data/source/label_value.h"
#include "data/source/placed_rows.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kTables{"train.csv", "valid.csv", "test.csv"};
constexpr std::string_view kPatient = "patient";

std::vector<fs::path> table_paths(const SourceOptions& options) {
  std::vector<fs::path> paths;
  for (const fs::path& path : options.csv) paths.push_back(below_root(options, path));
  if (!paths.empty()) return paths;
  for (const std::string_view name : kTables) {
    std::error_code ignored;
    if (fs::is_regular_file(options.root / name, ignored)) paths.push_back(options.root / name);
  }
  return paths;
}

bool is_chexpert_table(const std::vector<std::string>& header) {
  return find_column(header, {"Path"}) && find_column(header, {"Frontal/Lateral"});
}

/// None where the name does not say.
Split split_of(const fs::path& table) {
  const std::string name = table.filename().string();
  if (name.starts_with("train")) return Split::Train;
  if (name.starts_with("val")) return Split::Val;
  return name.starts_with("test") ? Split::Test : Split::None;
}

/// "train/patient00001/study1/view1_frontal.jpg": position of the folder patient00001, or the end.
fs::path::iterator patient_folder(const fs::path& path) {
  return std::find_if(path.begin(), path.end(), [](const fs::path& part) {
    const std::string text = part.string();
    return text.starts_with(kPatient) && text.size() > kPatient.size();
  });
}

fs::path joined(fs::path path, fs::path::iterator first, fs::path::iterator last) {
  for (; first != last; ++first) path /= *first;
  return path;
}

/// Folders directly below the root, sorted.
std::vector<fs::path> folders_below(const fs::path& root) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    std::error_code unreadable;
    if (it->is_directory(unreadable)) folders.push_back(it->path());
  }
  std::ranges::sort(folders);
  return folders;
}

/// Where a row's image may lie.
std::vector<fs::path> places_of(const fs::path& name, const fs::path& root, const std::vector<fs::path>& parts) {
  std::vector<fs::path> places{root / name};
  if (name.begin() != name.end()) places.push_back(joined(root, std::next(name.begin()), name.end()));
  if (const auto patient = patient_folder(name); patient != name.end()) {
    for (const fs::path& part : parts) places.push_back(joined(part, patient, name.end()));
    // What is named when none is there.
    std::swap(places[1], places.back());
  }
  return places;
}

struct Columns {
  std::optional<std::size_t> path, sex, age, side, view;
};

/// PA, AP, LL or RL; "Lateral" where a lateral's own is not told.
std::string view_of(const std::vector<std::string>& row, const Columns& columns) {
  const std::string view = field(row, columns.view);
  const std::string side = field(row, columns.side);
  return side == "Lateral" || view.empty() ? side : view;
}

void read_table(const io::Csv& table, const fs::path& path, const SourceOptions& options,
                const std::vector<fs::path>& parts, PlacedRows& rows, Listing& listing) {
  const std::string what = path.filename().string();
  const Columns columns{.path = find_column(table.header, {"Path"}),
                        .sex = find_column(table.header, {"Sex"}),
                        .age = find_column(table.header, {"Age"}),
                        .side = find_column(table.header, {"Frontal/Lateral"}),
                        .view = find_column(table.header, {"AP/PA"})};
  if (!columns.path) {
    throw DataError(error_text("data.chexpert", what, "a column \"Path\"",
                               "columns " + first_names(table.header, table.header.size()),
                               "another table in data.csv"));
  }
  const ChexpertLabels labels(table.header, options, listing.label_names, what);
  const Split split = split_of(path);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& row = table.rows[i];
    const std::string where = fmt::format("{} line {}", what, table.lines[i]);
    if (row.size() != table.header.size()) {
      throw DataError(error_text("data.chexpert", where, fmt::format("{} fields", table.header.size()),
                                 fmt::format("{}", row.size()), "the table as it was published"));
    }
    Sample sample{.id = field(row, columns.path),
                  .split = split,
                  .view = view_of(row, columns),
                  .sex = parse_sex(field(row, columns.sex)),
                  .age_years = parse_age(field(row, columns.age))};
    const fs::path name(sample.id);
    const auto patient = patient_folder(name);
    if (patient == name.end()) {
      throw DataError(error_text("data.chexpert", where, "a path with a folder patient<number>",
                                 "\"" + sample.id + "\"", "the table as it was published, or --set data.source=csv"));
    }
    sample.patient = patient->string().substr(kPatient.size());
    if (!rows.take(sample, places_of(name, options.root, parts), where)) continue;
    sample.labels = labels.read(row, where);
    listing.samples.push_back(std::move(sample));
  }
}

}  // namespace

bool probe_chexpert(const SourceOptions& options) {
  const auto paths = table_paths(options);
  return !paths.empty() &&
         std::ranges::all_of(paths, [](const fs::path& path) { return is_chexpert_table(csv_header(path)); });
}

Listing list_chexpert(const SourceOptions& options) {
  Listing listing{.label_names = chexpert_label_names(options), .csv = table_paths(options)};
  if (listing.csv.empty()) {
    throw DataError(error_text("data.chexpert", options.root.string(), "train.csv, valid.csv or test.csv", "none",
                               "the folder that holds them, or --set data.csv=FILE"));
  }
  check_label_policies(options, listing.label_names);
  if (std::ranges::all_of(listing.csv, [](const fs::path& path) { return split_of(path) != Split::None; })) {
    listing.given_splits = "names of the tables";
  }
  const auto tables = read_tables(listing.csv, "data.chexpert");
  const std::vector<fs::path> parts = folders_below(options.root);
  PlacedRows rows(options, listing);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    listing.csv_sha256.push_back(tables[i].sha256);
    read_table(tables[i], listing.csv[i], options, parts, rows, listing);
  }
  rows.settle();
  return listing;
}

}  // namespace roentgen::data
