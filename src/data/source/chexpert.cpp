// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset reader `chexpert`: train.csv, valid.csv and test.csv (Irvin et al. 2019). Columns: Path, Sex, Age,
// Frontal/Lateral, AP/PA and one for each finding. Paths begin with the name of the published folder (CheXpert-v1.0,
// CheXpert-v1.0-small), even if the folder was renamed. The table's name states the split. The full set is published as
// four folders that may lie next to each other below the data folder. "CheXpert-v1.0 batch 1 (validate & csv)" has the
// tables and valid/patient64541/...; "CheXpert-v1.0 batch 2 (train 1)" and the others have patient00001/....
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "core/error.h"
#include "data/source/chexpert_labels.h"
#include "data/source/folder_walk.h"
#include "data/source/label_value.h"
#include "data/source/patient.h"
#include "data/source/placed_rows.h"
#include "data/source/source.h"
#include "data/source/split.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kTables{"train.csv", "valid.csv", "test.csv"};
constexpr std::string_view kPatient = "patient";
/// Prefix of the names of the published folders.
constexpr std::string_view kSet = "CheXpert";

/// Folders directly below `folder`, sorted.
std::vector<fs::path> folders_below(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : sorted_entries(folder)) {
    std::error_code unreadable;
    if (entry.is_directory(unreadable)) folders.push_back(entry.path());
  }
  return folders;
}

/// Paths of the tables in the data folder. If there are none, the tables in subfolders with the published name.
std::vector<fs::path> table_paths(const SourceOptions& options) {
  std::vector<fs::path> paths = named_tables(options);
  const auto take = [&paths](const fs::path& folder) {
    for (const std::string_view name : kTables) {
      if (const auto table = plain_or_gzipped(folder / name)) paths.push_back(*table);
    }
  };
  if (paths.empty()) take(options.root);
  if (!paths.empty()) return paths;
  for (const fs::path& folder : folders_below(options.root)) {
    if (!folder.filename().string().starts_with(kSet)) continue;
    const bool is_second = !paths.empty();
    const fs::path first = is_second ? paths.front() : fs::path();
    take(folder);
    if (is_second && paths.back().parent_path() == folder) {
      throw DataError(
          error_text("data.chexpert", options.root.string(), "CheXpert tables in only one of its folders",
                     "tables in " + first.parent_path().filename().string() + " and " + folder.filename().string(),
                     "one of these folders as --data, or --set data.csv=FILE"));
    }
  }
  return paths;
}

bool is_chexpert_table(const std::vector<std::string>& header) {
  return find_column(header, {"Path"}) && find_column(header, {"Frontal/Lateral"});
}

/// Split that a table's file name states; None if it states none.
Split split_of(const fs::path& table) {
  const std::string name = table.filename().string();
  if (name.starts_with("train")) return Split::Train;
  if (name.starts_with("val")) return Split::Val;
  return name.starts_with("test") ? Split::Test : Split::None;
}

/// Position of the patient folder in a path such as "train/patient00001/study1/view1_frontal.jpg"; the end if there is
/// none.
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

/// A folder directly below the data folder, and the folders in it.
struct Part {
  fs::path folder;
  std::unordered_set<std::string> folders;
};

std::vector<Part> parts_of(const fs::path& root) {
  std::vector<Part> parts;
  for (const fs::path& folder : folders_below(root)) {
    Part part{.folder = folder, .folders = {}};
    for (const fs::path& below : folders_below(folder)) part.folders.insert(below.filename().string());
    parts.push_back(std::move(part));
  }
  return parts;
}

/// Candidate paths of a row's image. If none exists, the error names the last one.
std::vector<fs::path> places_of(const fs::path& name, const fs::path& root, const std::vector<Part>& parts) {
  std::vector<fs::path> places{root / name};
  const auto patient = patient_folder(name);
  for (const Part& part : parts) {
    if (part.folders.contains(patient->string())) places.push_back(joined(part.folder, patient, name.end()));
    if (patient == name.begin()) continue;
    const auto split = std::prev(patient);
    if (part.folders.contains(split->string())) places.push_back(joined(part.folder, split, name.end()));
  }
  places.push_back(joined(root, std::next(name.begin()), name.end()));
  return places;
}

struct Columns {
  std::optional<std::size_t> path, sex, age, side, view;
};

/// View position: PA, AP, LL or RL; "Lateral" for a lateral view of unknown side.
std::string view_of(const std::vector<std::string>& row, const Columns& columns) {
  const std::string view = field(row, columns.view);
  const std::string side = field(row, columns.side);
  return side == "Lateral" || view.empty() ? side : view;
}

/// State that is passed from table to table while rows are read.
struct Reading {
  const SourceOptions& options;
  Listing& listing;
  PlacedRows rows;
  std::vector<Part> parts;
};

Columns find_columns(const io::Csv& table, const std::string& what) {
  const Columns columns{.path = find_column(table.header, {"Path"}),
                        .sex = find_column(table.header, {"Sex"}),
                        .age = find_column(table.header, {"Age"}),
                        .side = find_column(table.header, {"Frontal/Lateral"}),
                        .view = find_column(table.header, {"AP/PA"})};
  if (columns.path) return columns;
  throw DataError(error_text("data.chexpert", what, "a column \"Path\"",
                             "only the columns " + first_names(table.header, table.header.size()),
                             "naming another table in data.csv"));
}

void read_table(const io::Csv& table, const fs::path& path, Reading& reading) {
  const SourceOptions& options = reading.options;
  const std::string what = path.filename().string();
  const Columns columns = find_columns(table, what);
  const ChexpertLabels labels(table.header, options, reading.listing.label_names, what);
  const Split split = split_of(path);
  reading.listing.add_notes(notes_on_unread_patients(table.header, {}, what, "the patient is that of the path"));
  for_each_row(table, what, "data.chexpert", [&](const std::vector<std::string>& row, const std::string& where) {
    Sample sample{.id = field(row, columns.path),
                  .split = split,
                  .view = view_of(row, columns),
                  .sex = parse_sex(field(row, columns.sex)),
                  .age_years = parse_age(field(row, columns.age))};
    const fs::path name(sample.id);
    const auto patient = patient_folder(name);
    if (patient == name.end()) {
      throw DataError(error_text("data.chexpert", where, "a path with a folder patient<number>",
                                 "\"" + sample.id + "\"", "the original table, or --set data.source=csv"));
    }
    sample.patient = patient->string().substr(kPatient.size());
    reading.rows.add(std::move(sample), places_of(name, options.root, reading.parts), where,
                     [&] { return labels.read(row, where); });
  });
}

/// Describes the origin of the splits if table names state them; empty if no name does. Throws DataError if only some
/// names do and nothing else states splits, because a published split would be lost silently.
std::string given_splits(const std::vector<fs::path>& tables, const SplitOptions& split) {
  std::vector<std::string> without;
  for (const fs::path& table : tables) {
    if (split_of(table) == Split::None) without.push_back(table.filename().string());
  }
  if (without.empty()) return "names of the tables";
  const bool is_said_elsewhere = !uses_given_splits(split) || !split.train_val_list.empty() ||
                                 !split.train_list.empty() || !split.val_list.empty() || !split.test_list.empty();
  if (without.size() == tables.size() || is_said_elsewhere) return {};
  throw DataError(error_text("data.chexpert", "data.csv",
                             "either all tables or no table named after a split (train..., valid..., test...)",
                             first_names(without) + ", not named after a split, and tables that are",
                             "renaming the tables, or --set data.split=random to split by patient"));
}

}  // namespace

bool probe_chexpert(const SourceOptions& options, TableFiles& tables) {
  const auto paths = table_paths(options);
  return !paths.empty() &&
         std::ranges::all_of(paths, [&](const fs::path& path) { return is_chexpert_table(tables.header(path)); });
}

Listing list_chexpert(const SourceOptions& options, TableFiles& tables) {
  Listing listing{.label_names = chexpert_label_names(options), .csv = table_paths(options)};
  if (listing.csv.empty()) {
    throw DataError(error_text("data.chexpert", options.root.string(), "train.csv, valid.csv or test.csv",
                               "none of these tables",
                               "--data with the folder that contains them, or --set data.csv=FILE"));
  }
  check_label_policies(options, listing.label_names);
  listing.given_splits = given_splits(listing.csv, options.split);
  const TableRefs read = read_tables(listing, "data.chexpert", tables);
  Reading reading{
      .options = options, .listing = listing, .rows = PlacedRows(options, listing), .parts = parts_of(options.root)};
  for (std::size_t i = 0; i < read.size(); ++i) read_table(read[i], listing.csv[i], reading);
  reading.rows.settle();
  return listing;
}

}  // namespace roentgen::data
