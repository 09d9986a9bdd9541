// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset reader `csv`: labels.csv, or another table (table_look.h), with one row per image. Column names ignore case:
//   path (or file, filename, image, or data.image)   relative to the csv's folder, else the data folder; extension
//   optional patient (patient_id, subject_id, subject in any spelling, or data.patient), study, split, view, sex, age:
//   optional
// Each image occurs once, however its path is spelt (table_fields.h reads the other columns). Every other column can be
// a label: by its name if it contains 1, 0, -1, yes, no, ... (label_value.h), or as "column:value". data.labels names
// the label columns.
// Tables written by `convert` state their label columns (converted.h), and their column `id` contains the names of the
// converted images. Names of several tables can state the splits (table_splits.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/utf8.h"
#include "data/source/converted.h"
#include "data/source/finding_names.h"
#include "data/source/finding_text.h"
#include "data/source/label_value.h"
#include "data/source/patient.h"
#include "data/source/placed_rows.h"
#include "data/source/record_source.h"
#include "data/source/set_option.h"
#include "data/source/source.h"
#include "data/source/split.h"
#include "data/source/table_look.h"
#include "data/source/table_splits.h"
#include "io/text.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

/// Columns that are not labels.
struct Columns {
  std::size_t path = 0;
  std::optional<std::size_t> id, split;
  FactColumns facts;

  [[nodiscard]] std::array<std::optional<std::size_t>, 8> all() const {
    return {path, id, split, facts.patient, facts.study, facts.view, facts.sex, facts.age};
  }
};

/// Labels of the tables, and how they were chosen.
struct Labels {
  std::vector<std::string> names;
  /// True if `roentgen convert` wrote the tables. Their order is then known, there may be no labels, and a column `id`
  /// exists.
  bool are_converted = false;
  /// True if labels may be proposed; there may be none.
  bool are_proposed = false;
};

/// Source of a label's values.
struct LabelColumn {
  std::string name;
  /// Index of the column; nullopt if the table does not have it.
  std::optional<std::size_t> column;
  /// Value that makes the label positive if the field equals or lists it; nullopt: the field itself is 1, 0, -1, ...
  std::optional<std::string> value;
  LabelPolicy policy;
};

/// A column whose values some labels refer to.
struct ValueColumn {
  std::size_t column = 0;
  FindingText text;
  /// Indices of labels that refer to values of the column, in the order of finding_text's labels.
  std::vector<std::size_t> labels;
};

/// Tables to read; empty if the folder has none.
FoundTables tables_of(const SourceOptions& options, TableFiles& tables) {
  FoundTables found;
  const fs::path usual = options.root / "labels.csv";
  if (!options.csv.empty()) {
    found.read = named_tables(options);
  } else if (options.files == ImageFiles::Unneeded) {
    found.read = {plain_or_gzipped(usual).value_or(usual)};
  } else {
    found = tables.found_in(options.root, options.image);
    for (fs::path& path : found.read) path = options.root / path;
  }
  return found;
}

/// Checks that names are valid UTF-8 and that each name belongs to one column.
void check_header(const std::vector<std::string>& header, const std::string& what) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < header.size(); ++i) {
    for (std::string_view rest = header[i]; !rest.empty(); rest.remove_prefix(utf8_length(rest))) {
      if (utf8_length(rest) > 0) continue;
      throw DataError(error_text("data.csv", fmt::format("{}, name of column {}", what, i + 1), "text in UTF-8",
                                 "other bytes", "saving the table as UTF-8 csv"));
    }
    const std::string_view name = stripped(header[i]);
    if (name.empty() || seen.insert(name).second) continue;
    throw DataError(error_text("data.csv", what, "one column of each name", fmt::format("two named \"{}\"", name),
                               "renaming one of them"));
  }
}

/// Throws DataError if a later column has the same name as this one, ignoring case.
void check_only(const std::vector<std::string>& header, std::size_t column, const std::string& what) {
  const std::string_view name = stripped(header[column]);
  const std::vector<std::string> later(header.begin() + static_cast<std::ptrdiff_t>(column) + 1, header.end());
  if (const auto second = find_column(later, {name})) {
    throw DataError(error_text("data.csv", what, fmt::format("one column \"{}\", in upper or lower case", name),
                               fmt::format("a second one, \"{}\"", stripped(later[*second])), "renaming one of them"));
  }
}

Labels labels_of(const SourceOptions& options, const std::vector<fs::path>& tables) {
  Labels labels{.names = options.labels};
  if (tables.size() != 1 || tables.front().stem() != "labels") return labels;
  auto converted = converted_labels(tables.front().parent_path(), "png");
  labels.are_converted = converted.has_value();
  if (converted && labels.names.empty()) labels.names = std::move(*converted);
  return labels;
}

Columns find_columns(const io::Csv& table, const std::string& what, const Labels& labels,
                     const SourceOptions& options) {
  check_header(table.header, what);
  const auto path = image_column(table.header, options.files, options.image);
  if (!path) {
    throw DataError(error_text("data.csv", what,
                               options.image.empty() ? "a column \"path\" or \"file\"" : "a column " + options.image,
                               "only the columns " + first_names(table.header, table.header.size()),
                               "--set data.image=COLUMN with the column of image files"));
  }
  const Columns columns{.path = *path,
                        .id = labels.are_converted ? find_column(table.header, {"id"}) : std::nullopt,
                        .split = find_column(table.header, {"split"}),
                        .facts = find_facts(table.header, options.patient)};
  if (!options.patient.empty() && !columns.facts.patient) {
    throw ConfigError(error_text("data.csv", "data.patient", "the name of a column of " + what, options.patient,
                                 "one of these columns: " + first_names(table.header, table.header.size())));
  }
  for (const auto& column : columns.all()) {
    if (column && column != columns.facts.study) check_only(table.header, *column, what);
  }
  return columns;
}

/// True for a column about the patient or the picture, not about a finding.
bool is_fact_column(const Columns& columns, std::size_t i) {
  return std::ranges::count(columns.all(), std::optional(i)) > 0;
}

/// Names of all columns that contain only label values, at least one of them positive.
std::vector<std::string> label_columns(const io::Csv& table, const Columns& columns) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    if (!is_fact_column(columns, i) && is_label_column(table, i)) labels.emplace_back(stripped(table.header[i]));
  }
  return labels;
}

/// Remedy text that names possible labels; if there are none, it explains what a label column contains.
std::string label_remedy(const io::Csv& table, const Columns& columns) {
  const std::vector<std::string> labels = label_columns(table, columns);
  if (!labels.empty()) return set_option("data.labels", labels);
  return "naming a column of 1, 0, -1, yes or no, or one value of a text column as data.labels=COLUMN:VALUE";
}

std::vector<LabelColumn> find_labels(const io::Csv& table, const std::string& what, const Columns& columns,
                                     const SourceOptions& options, const Labels& asked) {
  const std::string names = "only the columns " + first_names(table.header, table.header.size());
  if (asked.names.empty() && !asked.are_converted && !asked.are_proposed) {
    throw ConfigError(error_text("data.csv", "data.labels", "the names of the label columns of " + what, "none",
                                 label_remedy(table, columns)));
  }
  std::vector<LabelColumn> labels;
  for (const auto& name : asked.names) {
    LabelColumn label{.name = name, .value = {}, .policy = policy_of(options, name)};
    auto column = finding_column(table.header, name);
    const auto colon = name.find(':');
    if (!column && colon != std::string::npos) {
      column = finding_column(table.header, name.substr(0, colon));
      label.value = name.substr(colon + 1);
    }
    if (!column) refuse_ambiguous_column(table.header, what, name);
    if (!column && options.unknown_labels == UnknownLabels::Refuse) {
      throw ConfigError(error_text("data.labels", name, "the name of a label column of " + what, names,
                                   label_remedy(table, columns)));
    }
    label.column = column;
    labels.push_back(std::move(label));
  }
  return labels;
}

/// Notes columns whose names differ from a label column's only in case, blanks, `_` and `-`.
void note_alike(const io::Csv& table, const std::string& what, const std::vector<LabelColumn>& labels,
                Listing& listing) {
  std::set<std::size_t> read;
  for (const LabelColumn& label : labels) {
    if (label.column) read.insert(*label.column);
  }
  for (const std::size_t column : read) {
    for (std::size_t i = 0; i < table.header.size(); ++i) {
      if (read.contains(i) || spelling_key(table.header[i]) != spelling_key(table.header[column])) continue;
      listing.notes.push_back(fmt::format("{}: column {} is read, but column {} with almost the same name is not", what,
                                          stripped(table.header[column]), stripped(table.header[i])));
    }
  }
}

/// Notes columns that look like patient ids or splits but are not used as such or as labels.
void note_unread_columns(const io::Csv& table, const std::vector<LabelColumn>& labels, const Columns& columns,
                         Listing& listing, const std::string& what) {
  const auto facts = columns.all();
  std::vector<std::optional<std::size_t>> read(facts.begin(), facts.end());
  for (const LabelColumn& label : labels) read.push_back(label.column);
  const std::optional<std::size_t>& patient = columns.facts.patient;
  const std::string source =
      patient ? fmt::format("patients are read from column {}", stripped(table.header[*patient]))
              : std::string("rename it \"patient\" or name it in data.patient, to keep each patient in one split");
  listing.add_notes(notes_on_unread_patients(table.header, read, what, source));
  if (!columns.split) listing.add_notes(notes_on_unread_splits(table, read, what));
}

std::vector<ValueColumn> value_columns(const std::vector<LabelColumn>& labels) {
  std::map<std::size_t, std::vector<std::size_t>> asked;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (labels[k].column && labels[k].value) asked[*labels[k].column].push_back(k);
  }
  std::vector<ValueColumn> columns;
  for (auto& [column, numbers] : asked) {
    std::vector<std::string> values;
    for (const std::size_t k : numbers) values.push_back(*labels[k].value);
    columns.push_back({.column = column, .text = FindingText(std::move(values)), .labels = std::move(numbers)});
  }
  return columns;
}

/// Remedy for a label column that contains `text` instead of 1 or 0. Fractions are scores, so no value of them is
/// proposed as a label.
std::string value_remedy(const std::string& label, const std::string& text) {
  const auto number = number_of(text);
  const std::string as_class = set_option("data.labels", std::vector<std::string>{label + ":" + text});
  // Conditional remedy, because the column's other text may be the one that means "present".
  if (!number)
    return "writing 1 and 0 in that column or, if this text means present and all others absent, " + as_class;
  if (*number != std::floor(*number)) return "replacing the scores by 1 and 0 with a threshold";
  return "writing 1 and 0 in that column or, if each number is a class, " + as_class;
}

float read_label(const LabelColumn& label, const std::vector<std::string>& row, const std::string& where) {
  const std::string text = field(row, label.column);
  const auto value = parse_label_value(text);
  if (!value) {
    throw DataError(error_text("data.labels", where, "1, 0, -1, yes, no or an empty field for " + label.name,
                               "\"" + text + "\"", value_remedy(label.name, text)));
  }
  return label_number(*value, label.policy);
}

std::vector<float> read_labels(const std::vector<LabelColumn>& labels, std::vector<ValueColumn>& values,
                               const std::vector<std::string>& row, const std::string& where) {
  std::vector<float> numbers(labels.size(), std::numeric_limits<float>::quiet_NaN());
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (labels[k].column && !labels[k].value) numbers[k] = read_label(labels[k], row, where);
  }
  for (ValueColumn& column : values) {
    const std::string text = field(row, column.column);
    const std::vector<bool> named = text.empty() ? std::vector<bool>(column.labels.size()) : column.text.read(text);
    for (std::size_t i = 0; i < named.size(); ++i) {
      const LabelValue value = text.empty() ? LabelValue::Empty
                               : named[i]   ? LabelValue::Positive
                                            : LabelValue::Negative;
      numbers[column.labels[i]] = label_number(value, labels[column.labels[i]].policy);
    }
  }
  return numbers;
}

/// State that is passed from table to table while rows are read.
struct Reading {
  const SourceOptions& options;
  const Labels& labels;
  Listing& listing;
  PlacedRows rows;
};

/// True if the column `split` is not empty in some row.
bool has_split_words(const io::Csv& table) {
  const auto column = find_column(table.header, {"split"});
  return column && std::ranges::any_of(table.rows, [&column](const auto& row) { return !field(row, column).empty(); });
}

/// Proposes the columns that contain label values as labels, and adds notes on how to name them.
void propose_labels(const io::Csv& table, const SourceOptions& options, Listing& listing, Labels& labels) {
  const Columns columns = find_columns(table, listing.csv.front().filename().string(), labels, options);
  labels.names = label_columns(table, columns);
  labels.are_proposed = true;
  listing.notes.push_back("labels are not named yet; try " + label_remedy(table, columns));
}

/// @param named_split split for rows whose column `split` is empty
void read_table(const io::Csv& table, const fs::path& path, Split named_split, Reading& reading) {
  const SourceOptions& options = reading.options;
  Listing& listing = reading.listing;
  const std::string what = path.filename().string();
  const Columns columns = find_columns(table, what, reading.labels, options);
  const auto labels = find_labels(table, what, columns, options, reading.labels);
  std::vector<ValueColumn> values = value_columns(labels);
  note_alike(table, what, labels, listing);
  note_unread_columns(table, labels, columns, listing, what);
  if (columns.split && uses_given_splits(options.split)) check_splits(table, what, *columns.split);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& row = table.rows[i];
    const std::string where = fmt::format("{} line {}", what, table.lines[i]);
    const std::size_t fields = table.header.size();
    const bool is_whole = row.size() == fields || (row.size() == fields + 1 && row.back().empty());  // "a,b,"
    if (!is_whole) {
      throw DataError(error_text("data.csv", where, fmt::format("{} fields", fields), fmt::format("{}", row.size()),
                                 "putting quotes around fields that contain commas"));
    }
    const std::string image = field(row, columns.path);
    const std::string id = field(row, columns.id);
    Sample sample{.id = id.empty() ? image : id, .path = {}, .patient = field(row, columns.facts.patient)};
    read_facts(row, columns.facts, sample);
    if (image.empty()) {
      throw DataError(error_text("data.csv", where, "the path of an image", "an empty field", "removing that line"));
    }
    const std::string split = uses_given_splits(options.split) ? field(row, columns.split) : std::string();
    if (!split.empty()) listing.given_splits = "column split of " + listing.csv.front().filename().string();
    sample.split = find_split(split).value_or(named_split);
    reading.rows.add(std::move(sample), places_of(image, {path.parent_path(), options.root}), where,
                     [&] { return read_labels(labels, values, row, where); });
  }
  for (const ValueColumn& column : values) {
    const auto is_it = [&column](std::optional<std::size_t> one) { return one == column.column; };
    if (is_it(columns.path) || is_it(columns.id) || is_it(columns.facts.patient) || is_it(columns.facts.study) ||
        is_it(columns.facts.age)) {
      continue;
    }
    std::string note =
        column.text.note(fmt::format("values of column {} that no label uses", stripped(table.header[column.column])));
    if (!note.empty()) listing.notes.push_back(std::move(note));
  }
}

}  // namespace

bool probe_csv(const SourceOptions& options, TableFiles& tables) {
  const FoundTables found = tables_of(options, tables);
  const bool names_images = !found.read.empty() && std::ranges::all_of(found.read, [&](const fs::path& path) {
    return image_column(tables.header(path), options.files, options.image).has_value();
  });
  if (!names_images || found.may_have_labels) return names_images;
  const std::vector<std::string>& header = tables.header(found.read.front());
  const bool has_asked = std::ranges::any_of(options.labels, [&header](const std::string& label) {
    return finding_column(header, label) || finding_column(header, label.substr(0, label.find(':')));
  });
  // A table without labels is only a list of files if records or folders state the labels.
  return has_asked || (!record_source(options.root) && !probe_class_folders(options, tables));
}

Listing list_csv(const SourceOptions& options, TableFiles& tables) {
  const FoundTables found = tables_of(options, tables);
  Listing listing{.csv = found.read};
  if (listing.csv.empty()) {  // the error names what is absent: the images of a table, or the table itself
    listing.csv = {options.root / (found.absent.empty() ? fs::path("labels.csv") : found.absent.front())};
  }
  listing.notes = notes_on(found);
  const TableRefs read = read_tables(listing, "data.csv", tables);
  Labels labels = labels_of(options, listing.csv);
  if (options.unnamed_labels == UnnamedLabels::Propose && labels.names.empty() && !labels.are_converted) {
    propose_labels(tables.joined(listing.csv), options, listing, labels);
  }
  listing.label_names = labels.names;
  check_label_policies(options, labels.names);
  Reading reading{.options = options,
                  .labels = labels,
                  .listing = listing,
                  .rows = PlacedRows(options, listing, FolderFiles(options.root))};
  TableSplits named{.splits = std::vector<Split>(read.size(), Split::None)};
  if (std::ranges::none_of(read, has_split_words)) named = table_splits(listing.csv, options);
  listing.given_splits = named.origin;
  listing.add_notes(std::move(named.notes));
  for (std::size_t i = 0; i < read.size(); ++i) read_table(read[i], listing.csv[i], named.splits[i], reading);
  reading.rows.settle();
  return listing;
}

}  // namespace roentgen::data
