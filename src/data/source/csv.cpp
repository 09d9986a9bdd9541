// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The source `csv`: labels.csv with one row an image. Columns, whatever their case: `path` (or file, filename, image),
// relative to the csv's folder, else to the data folder, each image once however its path is spelt; optional `patient`
// (patient_id), `split`, `view`, `sex`, `age`. Every other column can be a label: by its name when it holds 1, 0, -1,
// yes, no, ... (label_value.h), or as "column:value". Which are labels has to be told, but of what convert wrote
// (converted.h), whose column `id` has the names of the images that were converted.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "core/error.h"
#include "data/source/converted.h"
#include "data/source/finding_names.h"
#include "data/source/label_value.h"
#include "data/source/placed_rows.h"
#include "data/source/source.h"
#include "io/text.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

/// Columns that are no labels.
struct Columns {
  std::size_t path = 0;
  std::optional<std::size_t> id, patient, split, view, sex, age;
};

/// Which columns of the tables are labels.
struct Labels {
  std::vector<std::string> names;
  /// By convert: their order and that there may be none are known, and so is a column `id`.
  bool are_converted = false;
};

/// Where a label is read from.
struct LabelColumn {
  std::string name;
  /// None: the table does not have it.
  std::optional<std::size_t> column;
  /// Positive when the field equals this; else the field itself is 1, 0, -1, ...
  std::optional<std::string> equals;
  LabelPolicy policy;
};

std::optional<std::size_t> path_column(const std::vector<std::string>& header) {
  return find_column(header, {"path", "file", "filename", "image"});
}

std::vector<fs::path> table_paths(const SourceOptions& options) {
  std::vector<fs::path> paths;
  for (const auto& path : options.csv) paths.push_back(below_root(options, path));
  if (paths.empty()) {
    const fs::path usual = options.root / "labels.csv";
    paths.push_back(plain_or_gzipped(usual).value_or(usual));
  }
  return paths;
}

/// Names must be text that can be written again, and each stand for one column.
void check_header(const std::vector<std::string>& header, const std::string& what) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < header.size(); ++i) {
    for (std::string_view rest = header[i]; !rest.empty(); rest.remove_prefix(io::utf8_length(rest))) {
      if (io::utf8_length(rest) > 0) continue;
      throw DataError(error_text("data.csv", fmt::format("{}, name of column {}", what, i + 1), "text in UTF-8",
                                 "other bytes", "saving the table as UTF-8 csv"));
    }
    const std::string_view name = stripped(header[i]);
    if (name.empty() || seen.insert(name).second) continue;
    throw DataError(error_text("data.csv", what, "one column of each name", fmt::format("two named \"{}\"", name),
                               "renaming one of them"));
  }
}

/// As find_column(); DataError when a later column has that name as well, in whatever case.
std::optional<std::size_t> only_column(const std::vector<std::string>& header,
                                       const std::vector<std::string_view>& names, const std::string& what) {
  const auto found = find_column(header, names);
  if (!found) return found;
  const std::string_view name = stripped(header[*found]);
  const std::vector<std::string> later(header.begin() + static_cast<std::ptrdiff_t>(*found) + 1, header.end());
  if (const auto second = find_column(later, {name})) {
    throw DataError(error_text("data.csv", what, fmt::format("one column \"{}\", in whatever case", name),
                               fmt::format("\"{}\" as well", stripped(later[*second])), "renaming one of them"));
  }
  return found;
}

Labels labels_of(const SourceOptions& options, const std::vector<fs::path>& tables) {
  Labels labels{.names = options.labels};
  if (tables.size() != 1 || tables.front().stem() != "labels") return labels;
  auto converted = converted_labels(tables.front().parent_path());
  labels.are_converted = converted.has_value();
  if (converted && labels.names.empty()) labels.names = std::move(*converted);
  return labels;
}

Columns find_columns(const io::Csv& table, const std::string& what, const Labels& labels) {
  check_header(table.header, what);
  const auto path = path_column(table.header);
  if (!path) {
    throw DataError(error_text("data.csv", what, "a column \"path\" or \"file\"",
                               "columns " + first_names(table.header, table.header.size()),
                               "naming the column of image files \"path\""));
  }
  static_cast<void>(only_column(table.header, {stripped(table.header[*path])}, what));
  const auto column = [&](const std::vector<std::string_view>& names) {
    return only_column(table.header, names, what);
  };
  return {.path = *path,
          .id = labels.are_converted ? column({"id"}) : std::nullopt,
          .patient = column({"patient", "patient_id", "patient id"}),
          .split = column({"split"}),
          .view = column({"view", "view_position", "view position"}),
          .sex = column({"sex", "gender"}),
          .age = column({"age"})};
}

bool is_label_column(const io::Csv& table, std::size_t column) {
  bool has_positive = false;
  for (const auto& row : table.rows) {
    const auto value = parse_label_value(field(row, column));
    if (!value) return false;
    has_positive = has_positive || *value == LabelValue::Positive;
  }
  return has_positive;
}

/// All columns that read as labels with a positive; without one, what a label looks like.
std::string label_remedy(const io::Csv& table, const Columns& columns) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    const bool is_other = i == columns.path || i == columns.patient || i == columns.split || i == columns.view ||
                          i == columns.sex || i == columns.age;
    if (!is_other && is_label_column(table, i)) labels.push_back(table.header[i]);
  }
  if (labels.size() == 1) return "--set data.labels=" + labels[0];
  if (!labels.empty()) return fmt::format("--set 'data.labels=[\"{}\"]'", fmt::join(labels, "\",\""));
  return "a column of 1, 0, -1, yes or no by name, or one value of another as data.labels=COLUMN:VALUE";
}

std::vector<LabelColumn> find_labels(const io::Csv& table, const std::string& what, const Columns& columns,
                                     const SourceOptions& options, const Labels& asked) {
  const std::string names = "columns " + first_names(table.header, table.header.size());
  if (asked.names.empty() && !asked.are_converted) {
    throw ConfigError(
        error_text("data.csv", "labels", "names of the label columns of " + what, names, label_remedy(table, columns)));
  }
  std::vector<LabelColumn> labels;
  for (const auto& name : asked.names) {
    LabelColumn label{.name = name, .equals = {}, .policy = policy_of(options, name)};
    auto column = finding_column(table.header, name);
    const auto colon = name.find(':');
    if (!column && colon != std::string::npos) {
      column = table.column(name.substr(0, colon));
      label.equals = name.substr(colon + 1);
    }
    if (!column && options.unknown_labels == UnknownLabels::Refuse) {
      throw ConfigError(
          error_text("data.labels", name, "a label column of " + what, names, label_remedy(table, columns)));
    }
    label.column = column;
    labels.push_back(std::move(label));
  }
  return labels;
}

float read_label(const LabelColumn& label, const std::vector<std::string>& row, const std::string& where) {
  if (!label.column) return std::numeric_limits<float>::quiet_NaN();
  const std::string text = field(row, label.column);
  if (label.equals) {
    if (text.empty()) return label_number(LabelValue::Empty, label.policy);
    return text == *label.equals ? 1.0F : 0.0F;
  }
  const auto value = parse_label_value(text);
  if (!value) {
    throw DataError(error_text("data.labels", where, "1, 0, -1, yes, no or nothing as " + label.name,
                               "\"" + text + "\"", "--set data.labels=" + label.name + ":" + text));
  }
  return label_number(*value, label.policy);
}

/// What goes from table to table while rows are read.
struct Reading {
  const SourceOptions& options;
  const Labels& labels;
  Listing& listing;
  PlacedRows rows;
};

void read_table(const io::Csv& table, const fs::path& path, Reading& reading) {
  const SourceOptions& options = reading.options;
  Listing& listing = reading.listing;
  const std::string what = path.filename().string();
  const Columns columns = find_columns(table, what, reading.labels);
  const auto labels = find_labels(table, what, columns, options, reading.labels);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& row = table.rows[i];
    const std::string where = fmt::format("{} line {}", what, table.lines[i]);
    if (row.size() != table.header.size()) {
      throw DataError(error_text("data.csv", where, fmt::format("{} fields", table.header.size()),
                                 fmt::format("{}", row.size()), "quotes around fields with commas"));
    }
    const std::string image = field(row, columns.path);
    const std::string id = field(row, columns.id);
    Sample sample{.id = id.empty() ? image : id,
                  .path = {},
                  .patient = field(row, columns.patient),
                  .view = field(row, columns.view),
                  .sex = field(row, columns.sex),
                  .age_years = parse_age(field(row, columns.age))};
    if (image.empty()) {
      throw DataError(error_text("data.csv", where, "the path of an image", "nothing", "removing that line"));
    }
    if (!reading.rows.take(sample, {path.parent_path() / image, options.root / image}, where)) continue;
    const std::string split = field(row, columns.split);
    if (!split.empty()) listing.given_splits = "column split of " + listing.csv.front().filename().string();
    try {
      if (!split.empty()) sample.split = parse_split(split);
    } catch (const ConfigError&) {
      throw DataError(error_text("data.csv", where, "train, val, test or nothing as split", "\"" + split + "\"",
                                 "correcting that line"));
    }
    for (const auto& label : labels) sample.labels.push_back(read_label(label, row, where));
    listing.samples.push_back(std::move(sample));
  }
}

}  // namespace

bool probe_csv(const SourceOptions& options) {
  const auto paths = table_paths(options);
  return std::all_of(paths.begin(), paths.end(),
                     [](const fs::path& path) { return path_column(csv_header(path)).has_value(); });
}

Listing list_csv(const SourceOptions& options) {
  Listing listing{.csv = table_paths(options)};
  const auto tables = read_tables(listing.csv, "data.csv");
  const Labels labels = labels_of(options, listing.csv);
  listing.label_names = labels.names;
  check_label_policies(options, labels.names);
  Reading reading{.options = options, .labels = labels, .listing = listing, .rows = PlacedRows(options, listing)};
  for (std::size_t i = 0; i < tables.size(); ++i) {
    listing.csv_sha256.push_back(tables[i].sha256);
    read_table(tables[i], listing.csv[i], reading);
  }
  reading.rows.settle();
  return listing;
}

}  // namespace roentgen::data
