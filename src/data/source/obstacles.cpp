// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/obstacles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "data/source/folder_walk.h"
#include "data/source/image_index.h"
#include "data/source/set_option.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

/// A line of text, and the fraction of a dataset reader's requirements that the folder meets.
struct Obstacle {
  std::string text;
  double nearness = 0.0;
};

/// A csv in the folder.
struct Table {
  std::string name;
  std::vector<std::string> header;
  /// Reason why the header could not be read; empty if it could.
  std::string fault;
};

/// Columns and file names that identify the table of a dataset reader.
struct TableForm {
  std::string_view source;
  /// Required columns; alternative names for one column are separated by vertical bars.
  std::array<std::string_view, 3> columns;
  /// Prefixes and suffixes of the file names that the dataset reader looks for.
  std::string_view begin, end;
  std::string_view usual_name;
};

constexpr std::array kForms{
    TableForm{"nih", {"Image Index", "Finding Labels"}, "", "", "NAME.csv"},
    TableForm{"chexpert", {"Path", "Frontal/Lateral"}, "", "", "train.csv, valid.csv or test.csv"},
    TableForm{"mimic", {"dicom_id", "subject_id", "study_id"}, "", "-metadata.csv", "NAME-metadata.csv"},
    TableForm{"padchest", {"ImageID", "ImageDir", "Labels"}, "PADCHEST", "", "PADCHEST....csv"},
    TableForm{"csv", {"path|file|filename|image"}, "labels.csv", "", "labels.csv"}};

bool is_usual_name(const TableForm& form, std::string_view name) {
  if (form.source == "chexpert") return name == "train.csv" || name == "valid.csv" || name == "test.csv";
  return name.starts_with(form.begin) && name.ends_with(form.end);
}

std::vector<Table> tables_of(const SourceOptions& options) {
  std::vector<fs::path> paths = named_tables(options);
  for (const fs::directory_entry& entry : sorted_entries(options.root)) {
    fs::path name = entry.path().filename();
    if (name.extension() == ".gz") name.replace_extension();
    const bool is_table = name.extension() == ".csv" || name.extension() == ".tsv";
    if (options.csv.empty() && is_table) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<Table> tables;
  for (const fs::path& path : paths) {
    auto header = read_csv_header(path);
    Table& table = tables.emplace_back(Table{.name = path.filename().string(), .header = {}, .fault = {}});
    if (header.ok()) {
      table.header = std::move(header).value();
    } else {
      table.fault = header.error().substr(std::min(header.error().find("expected "), header.error().size()));
    }
  }
  return tables;
}

std::vector<std::string_view> names_in(std::string_view column) {
  std::vector<std::string_view> names;
  while (!column.empty()) {
    const std::size_t end = std::min(column.find('|'), column.size());
    names.push_back(column.substr(0, end));
    column.remove_prefix(std::min(end + 1, column.size()));
  }
  return names;
}

Obstacle of_table(const TableForm& form, const Table& table) {
  std::vector<std::string> absent;
  double wanted = 0.0;
  for (const std::string_view column : form.columns) {
    if (column.empty()) continue;
    const std::vector<std::string_view> names = names_in(column);
    wanted += 1.0;
    if (!find_column(table.header, names)) absent.push_back(fmt::format("{}", fmt::join(names, " or ")));
  }
  const double there = 1.0 - static_cast<double>(absent.size()) / wanted;
  const bool is_called = is_usual_name(form, table.name);
  if (absent.empty() && (is_called || form.source == "csv"))
    return {fmt::format("{}: {} has its columns, but not all images of the table were found", form.source, table.name),
            0.9};
  if (absent.empty()) {
    return {fmt::format("{}: {} has its columns, but is not called {}; try --set data.source={} {}", form.source,
                        table.name, form.usual_name, form.source, set_option("data.csv", table.name)),
            0.9};
  }
  const double nearness = 0.8 * there + (is_called && !form.begin.empty() ? 0.35 : 0.0);
  if (!table.fault.empty()) {
    return {fmt::format("{}: {} is not a csv table: {}", form.source, table.name, table.fault), nearness};
  }
  return {fmt::format("{}: {} has no column {} (it has {})", form.source, table.name, fmt::join(absent, ", "),
                      first_names(table.header, 8)),
          nearness};
}

Obstacle of_form(const TableForm& form, const std::vector<Table>& tables) {
  Obstacle nearest{fmt::format("{}: found no {}", form.source, form.usual_name == "NAME.csv" ? "csv" : form.usual_name),
                   -1.0};
  for (const Table& table : tables) {
    Obstacle one = of_table(form, table);
    if (one.nearness > nearest.nearness) nearest = std::move(one);
  }
  nearest.nearness = std::max(nearest.nearness, 0.0);
  return nearest;
}

/// Files below the folder by extension, and subfolders by their own content.
struct Files {
  Tally endings{};
  std::int64_t dicom_named = 0;
  std::int64_t loose_images = 0;
  std::size_t dangling = 0;
  std::vector<std::string> with_images{}, without_images{};
};

bool has_images(const fs::path& folder) {
  return std::ranges::any_of(sorted_entries(folder),
                             [](const auto& entry) { return has_image_extension(entry.path()); });
}

Files files_of(const fs::path& root) {
  Files files;
  FolderWalk walk(WalkOrder::Mixed, [&files](const fs::path& path) {
    const std::string ending = ending_of(path);
    files.endings.add(ending);
    files.dicom_named += ending == ".dcm" || ending == ".dicom" ? 1 : 0;
    return true;
  });
  try {
    walk.walk(root);
  } catch (const Error&) {  // a partial listing is sufficient here
  }
  files.dangling = walk.left_out().dangling.size();
  for (const fs::directory_entry& entry : sorted_entries(root)) {
    const std::string name = entry.path().filename().string();
    std::error_code unreadable;
    if (entry.is_directory(unreadable)) {
      if (name.starts_with('.') || is_companion_folder(name) || is_archive_folder(name)) continue;
      (has_images(entry.path()) ? files.with_images : files.without_images).push_back(name);
    } else if (has_image_extension(name)) {
      ++files.loose_images;
    }
  }
  return files;
}

Obstacle of_classes(const Files& files) {
  constexpr double kNear = 0.3;
  const std::string what = "class_folders: ";
  if (files.loose_images > 0) {
    const double nearness = files.with_images.empty() ? 0.1 : kNear;
    return {what + fmt::format("image files outside class folders ({})", files.loose_images), nearness};
  }
  if (files.with_images.empty() && files.without_images.empty()) return {what + "no folders"};
  if (files.with_images.empty()) {
    return {what + "no image file directly in " + first_names(files.without_images),
            files.without_images.size() > 1 ? 0.2 : 0.1};
  }
  if (!files.without_images.empty())
    return {what + "no image file directly in " + first_names(files.without_images), kNear};
  if (files.with_images.size() == 1) return {what + "only one folder of images, " + files.with_images.front(), kNear};
  return {what + "folders called images... are not classes: " + first_names(files.with_images), kNear};
}

Obstacle of_dicom(const Files& files) {
  if (files.dicom_named == 0) return {"dicom: found no DICOM file"};
  return {fmt::format("dicom: none of the .dcm files begins like a DICOM file ({})", files.dicom_named), 0.4};
}

}  // namespace

std::vector<std::string> source_obstacles(const SourceOptions& options) {
  const std::vector<Table> tables = tables_of(options);
  std::vector<Obstacle> obstacles;
  for (const TableForm& form : kForms) obstacles.push_back(of_form(form, tables));
  const Files files = files_of(options.root);
  obstacles.push_back(of_classes(files));
  obstacles.push_back(of_dicom(files));
#define RG_OBSTACLE(name, what) obstacles.push_back({fmt::format("{}: found no {}", #name, what)});
  RG_RECORD_SOURCES(RG_OBSTACLE)
#undef RG_OBSTACLE
  std::ranges::stable_sort(obstacles, std::greater<>(), &Obstacle::nearness);
  std::vector<std::string> lines;
  for (Obstacle& obstacle : obstacles) lines.push_back(std::move(obstacle.text));
  if (!files.endings.is_empty()) lines.push_back("files in it by extension: " + files.endings.text());
  if (files.dangling > 0) lines.push_back(fmt::format("broken links in it: {}", files.dangling));
  return lines;
}

}  // namespace roentgen::data
