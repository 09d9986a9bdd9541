// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/study.h"

#include <filesystem>
#include <optional>

#include "cli/name_index.h"
#include "cli/table_column.h"
#include "data/source/dataset.h"
#include "io/csv.h"

namespace roentgen::cli {
namespace {

namespace fs = std::filesystem;

// What the tables say, by the images' names.
struct StudyColumn {
  NameIndex index;
  std::vector<std::string> values;
};

void read_studies(const fs::path& path, StudyColumn& column) {
  const auto read = io::read_csv(path);
  if (!read.ok()) return;  // a list of names, which says nothing of studies
  const io::Csv& table = read.value();
  const auto image = image_column(table.header);
  const auto study = study_column(table.header);
  if (!image || !study) return;
  for (const auto& row : table.rows) {
    if (column.index.add(table_field(row, image), column.values.size())) {
      column.values.push_back(table_field(row, study));
    }
  }
}

}  // namespace

std::string study_folder(std::string_view image) {
  const fs::path folder = fs::path(image).parent_path();
  const std::string name = folder.filename().string();
  const bool is_number =
      name.size() > 1 && name[0] == 's' && name.find_first_not_of("0123456789", 1) == std::string::npos;
  return name.starts_with("study") || is_number ? folder.generic_string() : std::string();
}

std::vector<std::string> studies_of(const data::Dataset& dataset) {
  StudyColumn column;
  for (const fs::path& path : dataset.csv) read_studies(path, column);
  std::vector<std::string> studies;
  for (const data::Sample& sample : dataset.samples) {
    const auto row = column.index.find_ending(sample.id);
    if (column.values.empty()) {
      studies.push_back(study_folder(sample.id));
    } else {
      const std::string value = row ? column.values[*row] : std::string();
      studies.push_back(value.empty() ? value : sample.patient + "/" + value);
    }
  }
  return studies;
}

}  // namespace roentgen::cli
