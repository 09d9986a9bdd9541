// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/table_fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/lower_case.h"
#include "data/source/patient.h"

namespace roentgen::data {
namespace {

std::optional<std::size_t> column_named(const std::vector<std::string>& header, std::string_view name) {
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (lower_case(stripped(header[i])) == lower_case(name)) return i;
  }
  return std::nullopt;
}

}  // namespace

std::string_view stripped(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string in_one_line(std::string_view name) {
  std::string line;
  bool is_in_break = false;
  for (const char c : stripped(name)) {
    const bool is_break = c == '\r' || c == '\n';
    if (!is_break || !is_in_break) line += is_break ? ' ' : c;
    is_in_break = is_break;
  }
  return line;
}

std::optional<std::size_t> find_column(const std::vector<std::string>& header,
                                       const std::vector<std::string_view>& names) {
  for (const auto name : names) {
    if (const auto column = column_named(header, name)) return column;
  }
  std::vector<std::string> lines;
  for (const std::string& name : header) lines.push_back(in_one_line(name));
  for (const auto name : names) {
    if (const auto column = column_named(lines, in_one_line(name))) return column;
  }
  return std::nullopt;
}

std::optional<std::size_t> first_column(const std::vector<std::string>& header,
                                        const std::vector<std::string_view>& names) {
  std::optional<std::size_t> first;
  for (const auto name : names) {
    const auto column = column_named(header, name);
    if (column && (!first || *column < *first)) first = column;
  }
  return first;
}

std::string field(const std::vector<std::string>& row, std::optional<std::size_t> column) {
  return column && *column < row.size() ? std::string(stripped(row[*column])) : std::string();
}

std::string first_names(const std::vector<std::string>& names, std::size_t shown) {
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, names.size()); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::optional<std::size_t> image_column(const std::vector<std::string>& header, ImageFiles files,
                                        const std::string& told) {
  if (!told.empty()) return find_column(header, {told});
  const auto usual = files == ImageFiles::Needed
                         ? find_column(header, {"path", "file", "filename", "image"})
                         : first_column(header, {"path", "file", "filename", "image", "Image Index", "ImageID"});
  if (usual) return usual;
  return find_column(header, {"image_path", "image path", "file_path", "filepath", "file_name", "file name",
                              "image_file", "image file", "image_name", "image name"});
}

FactColumns find_facts(const std::vector<std::string>& header, const std::string& told) {
  const auto patient = !told.empty() ? find_column(header, {told})
                                     : find_column(header, {"patient", "patient_id", "patient id", "patientid",
                                                            "subject_id", "subject id", "subjectid"});
  return {
      .patient = patient || !told.empty() ? patient : patient_column(header),
      .study = find_column(header, {"study", "study_id", "study id", "studyid", "follow-up #"}),
      .view = find_column(header, {"view", "view_position", "view position", "viewposition", "ap/pa", "projection"}),
      .sex = find_column(header, {"sex", "gender", "patient gender", "patient sex"}),
      .age = find_column(header, {"age", "patient age"})};
}

void read_facts(const std::vector<std::string>& row, const FactColumns& columns, Sample& sample) {
  sample.study = field(row, columns.study);
  sample.view = field(row, columns.view);
  sample.sex = field(row, columns.sex);
  sample.age_years = parse_age(field(row, columns.age));
}

float parse_age(std::string_view text) {
  float age = 0.0F;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), age);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit == "M") age /= 12.0F;
  if (unit == "W") age /= 52.18F;
  if (unit == "D") age /= 365.25F;
  const bool known_unit = unit.empty() || unit == "Y" || unit == "M" || unit == "W" || unit == "D";
  const bool is_age = error == std::errc() && known_unit && age >= 0.0F && age <= 120.0F;
  return is_age ? age : std::numeric_limits<float>::quiet_NaN();
}

std::string parse_sex(std::string_view text) {
  const std::string word = lower_case(text);
  if (word == "m" || word == "male") return "M";
  if (word == "f" || word == "female") return "F";
  if (word == "unknown" || word == "u" || word == "nan" || word == "none") return {};
  return std::string(text);
}

}  // namespace roentgen::data
