// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/table_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/lower_case.h"
#include "core/plural.h"
#include "data/source/finding_names.h"
#include "data/source/finding_text.h"
#include "data/source/folder_files.h"
#include "data/source/image_columns.h"
#include "data/source/label_value.h"
#include "data/source/source.h"
#include "data/source/split.h"
#include "data/source/table_fields.h"
#include "data/source/table_files.h"
#include "io/csv.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

/// Largest number of distinct values in a class column; more are names, numbers or reports.
constexpr std::size_t kMostClasses = 30;
constexpr std::size_t kLongestClass_bytes = 40;

bool is_table_name(const fs::path& path) {
  std::string name = lower_case(path.filename().string());
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(".csv") || name.ends_with(".tsv") || name.ends_with(".txt");
}

/// True for column names that mean findings, such as "diagnosis".
bool names_a_diagnosis(std::string_view name) {
  constexpr std::array<std::string_view, 10> kParts{"label",   "class",     "diagnos", "finding",   "target",
                                                    "disease", "pathology", "outcome", "condition", "category"};
  const std::string key = spelling_key(name);
  return std::ranges::any_of(kParts, [&key](std::string_view part) { return key.find(part) != std::string::npos; });
}

using Classes = std::map<std::string, std::int64_t>;

/// True for values that are measurements: at least one has a fraction, or many are numbers.
bool are_measurements(const Classes& classes) {
  constexpr std::int64_t kMostNumbers = 10;
  std::int64_t numbers = 0;
  for (const auto& [name, count] : classes) {
    std::string text = name;
    std::ranges::replace(text, ',', '.');
    const auto number = number_of(text);
    if (number && *number != std::floor(*number)) return true;
    numbers += number ? 1 : 0;
  }
  return numbers > kMostNumbers;
}

/// Values of a column, with the number of rows that contain each; nullopt if the column cannot contain classes.
/// @param has_lists true if fields list several values, such as "Mass|Nodule"
std::optional<Classes> classes_of(const io::Csv& table, std::size_t column, bool has_lists) {
  Classes classes;
  std::int64_t rows = 0;
  for (const auto& row : table.rows) {
    const std::string text = field(row, column);
    if (text.empty()) continue;
    ++rows;
    for (const std::string& name : has_lists ? split_names(text) : std::vector<std::string>{text}) {
      if (name.size() > kLongestClass_bytes) return std::nullopt;
      ++classes[name];
    }
    if (classes.size() > kMostClasses) return std::nullopt;
  }
  // Classes occur at least twice on average; other values are names.
  if (classes.size() < 2 || 2 * std::ssize(classes) > rows || are_measurements(classes)) return std::nullopt;
  return classes;
}

/// True if the fields of a column list several values. A comma or semicolon separates values only if one of them also
/// occurs alone. "Mass, Nodule" is a list if another field is "Mass". "effusion, left" is usually one value.
bool lists_values(const io::Csv& table, std::size_t column) {
  std::set<std::string> fields;
  for (const auto& row : table.rows) fields.insert(field(row, column));
  return std::ranges::any_of(fields, [&fields](const std::string& text) {
    if (text.starts_with('[') || text.find('|') != std::string::npos) return true;
    if (text.find_first_of(",;") == std::string::npos) return false;
    return std::ranges::any_of(split_names(text), [&](const std::string& name) { return fields.contains(name); });
  });
}

/// Classes of a column, whose fields are single values or lists.
std::optional<Classes> classes_of(const io::Csv& table, std::size_t column) {
  const bool has_lists = lists_values(table, column);
  auto classes = classes_of(table, column, has_lists);
  return classes || has_lists ? classes : classes_of(table, column, true);
}

/// True for columns about the patient or the picture instead of findings.
std::vector<bool> fact_columns(const std::vector<std::string>& header, const FactColumns& facts,
                               const std::string& image) {
  std::vector<bool> is_fact(header.size());
  for (const auto& column :
       {image_column(header, ImageFiles::Needed, image), find_column(header, {"id"}), find_column(header, {"split"}),
        facts.patient, facts.study, facts.view, facts.sex, facts.age}) {
    if (column) is_fact[*column] = true;
  }
  return is_fact;
}

std::string name_of_column(const std::vector<std::string>& header, std::optional<std::size_t> column) {
  return column ? std::string(stripped(header[*column])) : std::string();
}

/// Counts of a column's fields, to explain why it is no label column.
struct FieldCounts {
  std::int64_t positives = 0;         ///< fields that mean a positive label
  std::int64_t values = 0;            ///< fields with a label value, without blank ones
  std::int64_t blanks = 0;            ///< empty fields, and words such as "nan"
  std::vector<std::size_t> others{};  ///< rows of fields with another text
  std::set<std::string> texts{};      ///< distinct texts of `others`

  /// True if the fields are label values, some positive, except at most a tenth of them.
  [[nodiscard]] bool are_nearly_labels() const {
    return positives > 0 && !others.empty() && 9 * std::ssize(others) <= values;
  }
  /// True if several fields hold the same text and all others are empty.
  [[nodiscard]] bool are_marks() const {
    return values == 0 && blanks > 0 && others.size() > 1 && texts.size() == 1 &&
           texts.begin()->size() <= kLongestClass_bytes;
  }
};

FieldCounts count_fields(const io::Csv& table, std::size_t column) {
  FieldCounts counts;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    std::string text = field(table.rows[i], column);
    const auto value = parse_label_value(text);
    if (!value) {
      counts.others.push_back(i);
      counts.texts.insert(std::move(text));
    } else if (*value == LabelValue::Empty) {
      ++counts.blanks;
    } else {
      ++counts.values;
      counts.positives += *value == LabelValue::Positive ? 1 : 0;
    }
  }
  return counts;
}

/// Takes classes of a column as labels. Of two values that exclude each other in all `rows`, takes only the rarer.
void take_classes(const std::string& column, const Classes& classes, std::int64_t rows, TableLook& look) {
  look.class_column = column;
  if (classes.size() == 2) {
    const auto &first = *classes.begin(), &second = *classes.rbegin();
    const bool are_opposites = first.second + second.second == rows;
    if (are_opposites && !means_no_finding(first.first) && !means_no_finding(second.first)) {
      const bool is_first = first.second <= second.second;
      look.labels = {column + ":" + (is_first ? first : second).first};
      look.opposite = (is_first ? second : first).first;
      return;
    }
  }
  for (const auto& [name, count] : classes) {
    if (means_no_finding(name)) {
      look.normals.push_back(name);
    } else {
      look.labels.push_back(column + ":" + name);
    }
  }
}

/// Tables with the same header.
struct TableGroup {
  std::vector<std::string> header;
  std::vector<fs::path> tables{};
  std::set<std::string> images{};  ///< names of existing images
  bool may_have_labels = false;
};

}  // namespace

std::vector<fs::path> tables_in(const fs::path& folder, TableFiles& files) {
  std::vector<fs::path> tables;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const bool is_table = entry.is_regular_file(ignored) && is_table_name(entry.path());
    if (is_table && files.header(entry.path()).size() > 1) tables.push_back(entry.path());
  }
  std::ranges::sort(tables);
  return tables;
}

std::vector<std::string> image_names(const io::Csv& table, const std::string& image) {
  const auto column = image_column(table.header, ImageFiles::Needed, image);
  std::vector<std::string> names;
  for (const auto& row : table.rows) names.push_back(field(row, column));
  return names;
}

FoundTables find_tables(const fs::path& folder, TableFiles& tables, const std::string& image) {
  FoundTables found;
  if (const auto usual = plain_or_gzipped(folder / "labels.csv")) {
    found.read = {usual->filename()};
    return found;
  }
  FolderFiles files(folder);
  std::vector<TableGroup> groups;
  for (const fs::path& path : tables_in(folder, tables)) {
    const auto column = image_column(tables.header(path), ImageFiles::Needed, image);
    if (!column) continue;
    const io::Csv& table = tables.table(path);
    std::set<std::string> images = present_images(table, *column, folder, files);
    if (images.empty()) {
      found.absent.push_back(path.filename());
      continue;
    }
    auto group = std::ranges::find(groups, table.header, &TableGroup::header);
    if (group == groups.end()) group = groups.insert(group, {.header = table.header});
    group->tables.push_back(path.filename());
    group->images.merge(images);
    const TableLook look = look_at_table(table, {.image = image});
    group->may_have_labels = group->may_have_labels || !look.labels.empty() || !look.unsure.empty();
  }
  if (groups.empty()) return found;
  const auto rank = [](const TableGroup& group) { return std::pair(group.may_have_labels, group.images.size()); };
  const auto chosen = std::ranges::max_element(groups, {}, rank);  // first of equals
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (group == chosen) continue;
    std::ranges::copy(group->tables, std::back_inserter(found.others));
    if (rank(*group) == rank(*chosen)) std::ranges::copy(group->tables, std::back_inserter(found.tied));
  }
  std::ranges::sort(found.others);
  found.may_have_labels = chosen->may_have_labels;
  found.read = std::move(chosen->tables);
  return found;
}

std::vector<std::string> notes_on(const FoundTables& tables) {
  const auto names_of = [](const std::vector<fs::path>& paths) {
    std::vector<std::string> names;
    for (const fs::path& path : paths) names.push_back(path.string());
    return first_names(names);
  };
  std::vector<std::string> notes;
  if (tables.read.size() > 1) {
    notes.push_back(
        fmt::format("{} with the same columns are read as one table", counted(std::ssize(tables.read), "table")));
  }
  if (!tables.tied.empty()) {
    notes.push_back(
        fmt::format("{} is read, although these tables list as many images: {}; set data.csv to choose a table",
                    tables.read.front().filename().string(), names_of(tables.tied)));
  }
  if (!tables.others.empty()) {
    notes.push_back(fmt::format("other tables with a column of images are not read: {}; set data.csv to choose a table",
                                names_of(tables.others)));
  }
  if (!tables.absent.empty()) {
    notes.push_back(fmt::format("tables without any existing image are not read: {}", names_of(tables.absent)));
  }
  return notes;
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

bool means_no_finding(std::string_view value) {
  constexpr std::array<std::string_view, 10> kWords{"healthy",     "control",    "unremarkable", "clear",
                                                    "absent",      "gesund",     "kontrolle",    "unauff\xC3\xA4llig",
                                                    "ohne befund", "kein befund"};
  const auto label = parse_label_value(value);
  if (label) return *label == LabelValue::Negative || *label == LabelValue::Empty;
  const std::string key = finding_text_key(value);
  return key == finding_text_key("No Finding") ||
         std::ranges::any_of(kWords, [&key](std::string_view word) { return finding_text_key(word) == key; });
}

TableLook look_at_table(const io::Csv& table, const GivenColumns& given) {
  const FactColumns facts = find_facts(table.header, given.patient);
  TableLook look{.patient = name_of_column(table.header, facts.patient),
                 .split = name_of_column(table.header, find_column(table.header, {"split"}))};
  const std::vector<bool> is_fact = fact_columns(table.header, facts, given.image);
  std::vector<std::pair<std::string, Classes>> candidates;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    const std::string name(stripped(table.header[i]));
    look.columns.push_back(name);
    if (is_fact[i] || name.empty()) continue;
    if (is_label_column(table, i)) {
      // The dataset reader refuses two columns of one name.
      if (std::ranges::find(look.labels, name) == look.labels.end()) look.labels.push_back(name);
      continue;
    }
    const FieldCounts counts = count_fields(table, i);
    if (counts.are_nearly_labels()) {
      look.nearly.push_back(fmt::format("{} (line {})", name, table.lines.at(counts.others.front())));
    } else if (auto classes = classes_of(table, i); classes && !looks_like_split(name)) {
      candidates.emplace_back(name, std::move(*classes));
    } else if (counts.are_marks()) {
      look.marked.push_back(name);
    } else if (counts.others.empty()) {
      look.absent.push_back(name);
    }
  }
  const auto named = std::ranges::find_if(candidates, [](const auto& one) { return names_a_diagnosis(one.first); });
  const bool is_only = candidates.size() == 1 && look.nearly.empty() && look.marked.empty();
  const auto chosen = named == candidates.end() && is_only ? candidates.begin() : named;
  const bool has_columns = !look.labels.empty();
  for (auto one = candidates.begin(); one != candidates.end(); ++one) {
    if (one == chosen && !has_columns) {
      take_classes(one->first, one->second, std::ssize(table.rows), look);
    } else {
      look.unsure.push_back(one->first);
    }
  }
  return look;
}

}  // namespace roentgen::data
