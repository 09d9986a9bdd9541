// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/label_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "cli/study.h"
#include "cli/table_column.h"
#include "core/error.h"
#include "core/foreign_text.h"
#include "data/source/finding_names.h"
#include "data/source/finding_text.h"
#include "data/source/findings.h"
#include "data/source/label_value.h"
#include "data/source/nih_fields.h"
#include "data/source/patient.h"
#include "eval/predictions.h"
#include "io/csv.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

struct Columns {
  std::size_t image = 0;
  std::optional<std::size_t> findings{}, patient{}, study{}, view{}, sex{}, age{};
};

/// How one label is read from a row.
struct LabelReader {
  std::string name;
  /// Own column; none: it is among NIH's findings, or absent.
  std::optional<std::size_t> column{};
  /// Positive when the column's field is or lists a value; labels that do so share a text.
  std::optional<std::size_t> text{};
  /// Number among the labels of that text.
  std::size_t place = 0;
  data::LabelPolicy policy{};
};

/// A column that lists names as text.
struct TextColumn {
  std::size_t column = 0;
  std::vector<std::string> names{};
  std::optional<data::FindingText> text{};
};

/// Readers of all labels.
struct LabelReaders {
  std::vector<LabelReader> labels;
  std::vector<TextColumn> texts;
};

Columns find_columns(const io::Csv& table, const std::string& what) {
  const auto image = image_column(table.header);
  if (!image) {
    throw DataError(error_text("cli.labels", what, "a column that names images (Image Index, image, path, file)",
                               joined(table.header),
                               "NIH's Data_Entry_2017_v2020.csv, a table with such a column, or the data folder"));
  }
  return {.image = *image,
          .findings = table_column(table.header, {"finding labels"}),
          .patient = table_column(table.header, {"patient id", "patient_id", "patient", "patientid", "subject_id"}),
          .study = study_column(table.header),
          .view = table_column(table.header, {"view position", "view_position", "view", "viewposition", "ap/pa"}),
          .sex = table_column(table.header, {"patient gender", "patient sex", "sex", "gender"}),
          .age = table_column(table.header, {"patient age", "age"})};
}

// "View:AP" names a column by NIH's short word, or any column by its own name.
std::optional<std::size_t> column_of(std::string_view name, const io::Csv& table, const Columns& columns) {
  if (const auto column = data::finding_column(table.header, name)) return column;
  if (columns.findings && name == "View") return columns.view;
  if (columns.findings && name == "Sex") return columns.sex;
  return std::nullopt;
}

std::set<std::string> all_findings(const io::Csv& table, const Columns& columns) {
  std::set<std::string> findings(data::kNihFindings.begin(), data::kNihFindings.end());
  findings.emplace(data::kNoFinding);
  for (const auto& row : table.rows) {
    for (std::string& finding : data::split_findings(table_field(row, columns.findings))) {
      findings.insert(std::move(finding));
    }
  }
  return findings;
}

std::set<std::string> text_keys(const std::set<std::string>& findings) {
  std::set<std::string> keys;
  for (const std::string& finding : findings) keys.insert(data::finding_text_key(finding));
  return keys;
}

void read_as_text(LabelReader& reader, std::size_t column, const std::string& name, LabelReaders& readers) {
  auto text = std::ranges::find(readers.texts, column, &TextColumn::column);
  if (text == readers.texts.end()) text = readers.texts.insert(text, {.column = column});
  reader.text = static_cast<std::size_t>(text - readers.texts.begin());
  reader.place = text->names.size();
  text->names.push_back(name);
}

/// Labels that the table does not have go to `absent`. DataError for one unless labels may be unknown, or for all.
LabelReaders find_labels(const io::Csv& table, const Columns& columns, const std::vector<std::string>& labels,
                         const data::SourceOptions& options, LabelTable& result) {
  const std::set<std::string> findings = columns.findings ? all_findings(table, columns) : std::set<std::string>{};
  const std::set<std::string> keys = text_keys(findings);
  LabelReaders readers;
  for (const std::string& label : labels) {
    LabelReader reader{.name = label, .policy = data::policy_of(options, label)};
    const auto colon = label.find(':');
    if (keys.contains(data::finding_text_key(label))) {
      read_as_text(reader, *columns.findings, label, readers);
    } else if (const auto own = data::finding_column(table.header, label)) {
      reader.column = own;
    } else if (const auto column =
                   colon == std::string::npos ? std::nullopt : column_of(label.substr(0, colon), table, columns)) {
      read_as_text(reader, *column, label.substr(colon + 1), readers);
    } else {
      data::refuse_ambiguous_column(table.header, result.what, label);
      result.absent.push_back(label);
    }
    readers.labels.push_back(std::move(reader));
  }
  for (TextColumn& column : readers.texts) column.text.emplace(column.names);
  const bool is_masked = options.unknown_labels == data::UnknownLabels::Mask && result.absent.size() < labels.size();
  if (result.absent.empty() || is_masked) return readers;
  const std::string has =
      columns.findings ? "findings " + joined({findings.begin(), findings.end()}) : "columns " + joined(table.header);
  const std::string& first = result.absent.front();
  throw DataError(error_text("cli.labels", result.what, "the label " + first + " of the predictions", has,
                             "a table with that label, or predictions without prob_" + first));
}

std::int8_t as_label(bool is_positive) { return is_positive ? 1 : 0; }

std::int8_t read_label(const LabelReader& reader, const std::vector<std::string>& row, const std::string& where) {
  if (!reader.column) return eval::kUnknown;
  const std::string text = table_field(row, reader.column);
  const auto value = data::parse_label_value(text);
  if (!value) {
    throw DataError(error_text("cli.labels", where, "1, 0, -1, yes, no or nothing as " + reader.name,
                               "\"" + text + "\"", "correcting that line"));
  }
  const float number = data::label_number(*value, reader.policy);
  return std::isnan(number) ? eval::kUnknown : as_label(number > 0.5F);
}

std::vector<std::int8_t> read_labels(LabelReaders& readers, const std::vector<std::string>& row, const Columns& columns,
                                     const std::string& where) {
  std::vector<std::vector<bool>> named;  // empty: the field says nothing
  for (TextColumn& column : readers.texts) {
    const std::string text = table_field(row, column.column);
    const bool is_empty =
        columns.findings == column.column ? data::parse_label_value(text) == data::LabelValue::Empty : text.empty();
    named.push_back(is_empty ? std::vector<bool>{} : column.text->read(text));
  }
  std::vector<std::int8_t> labels;
  for (const LabelReader& reader : readers.labels) {
    if (!reader.text) {
      labels.push_back(read_label(reader, row, where));
    } else if (named[*reader.text].empty()) {
      labels.push_back(eval::kUnknown);
    } else {
      labels.push_back(as_label(named[*reader.text][reader.place]));
    }
  }
  return labels;
}

void note_unasked(const LabelReaders& readers, const io::Csv& table, const Columns& columns, LabelTable& result) {
  for (const TextColumn& column : readers.texts) {
    const auto is_it = [&column](const std::optional<std::size_t>& one) { return one == column.column; };
    if (is_it(columns.image) || is_it(columns.patient) || is_it(columns.age)) continue;  // values may name people
    std::string note =
        column.text->note(is_it(columns.findings) ? "findings that no label asks for"
                                                  : fmt::format("values of column {} that no label asks for",
                                                                table_field(table.header, column.column)));
    if (!note.empty()) result.notes.push_back(std::move(note));
  }
}

std::string study_of(const std::vector<std::string>& row, const Columns& columns, const std::string& patient,
                     const std::string& image) {
  if (!columns.study) return study_folder(image);
  const std::string study = table_field(row, columns.study);
  return study.empty() ? study : patient + "/" + study;
}

LabelRow read_row(const std::vector<std::string>& row, const Columns& columns, LabelReaders& readers,
                  const std::string& where) {
  const std::string image = table_field(row, columns.image);
  LabelRow result;
  result.patient = data::normal_patient(table_field(row, columns.patient));
  if (columns.findings) result.patient = data::canonical_patient(result.patient.empty() ? image : result.patient);
  result.study = study_of(row, columns, result.patient, image);
  result.view = table_field(row, columns.view);
  result.sex = table_field(row, columns.sex);
  result.age_years = data::parse_nih_age(table_field(row, columns.age));
  result.labels = read_labels(readers, row, columns, where);
  return result;
}

}  // namespace

const LabelRow* LabelTable::find(std::string_view image) const {
  const auto row = index.find_ending(image);
  return row ? &rows[*row] : nullptr;
}

std::string LabelTable::files_text() const {
  std::string text;
  for (const LabelFile& file : files)
    text += fmt::format("labels: {}, sha256 {}\n", terminal_text(file.name), file.sha256);
  return text;
}

Value LabelTable::files_value() const {
  Value array = Value::array();
  for (const LabelFile& file : files) array.push_back(Value::Table{{"file", file.name}, {"sha256", file.sha256}});
  return array;
}

Value LabelTable::sha256_value() const {
  if (files.size() == 1) return Value(files.front().sha256);
  Value array = Value::array();
  for (const LabelFile& file : files) array.push_back(Value(file.sha256));
  return array;
}

LabelTable read_label_table(const fs::path& path, const std::vector<std::string>& labels,
                            const data::SourceOptions& options) {
  const io::Csv table = io::read_csv(path).or_throw();
  LabelTable result{.what = path.filename().string()};
  result.files.push_back({.name = result.what, .sha256 = table.sha256});
  const Columns columns = find_columns(table, result.what);
  LabelReaders readers = find_labels(table, columns, labels, options, result);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string where = fmt::format("{} line {}", result.what, table.lines[i]);
    std::string image = table_field(table.rows[i], columns.image);
    // NIH's images are known by their base names.
    if (columns.findings) image = fs::path(image).filename().string();
    if (image.empty() || !result.index.add(image, result.rows.size())) {
      throw DataError(error_text("cli.labels", where, "an image's name, each once",
                                 image.empty() ? "none" : "one that came before", "correcting that line"));
    }
    result.rows.push_back(read_row(table.rows[i], columns, readers, where));
    result.rows.back().image = std::move(image);
  }
  note_unasked(readers, table, columns, result);
  return result;
}

}  // namespace roentgen::cli
