// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/box_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "core/error.h"
#include "data/source/finding_names.h"
#include "data/source/table_fields.h"
#include "io/csv.h"

namespace roentgen::score {
namespace {

namespace fs = std::filesystem;
using Column = std::optional<std::size_t>;

std::string base_name(std::string_view image) { return fs::path(image).filename().string(); }

double number(const std::string& text, const std::string& where) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(value)) return value;
  throw DataError(
      error_text("cli.boxes", where, "four numbers x, y, width, height", "\"" + text + "\"", "correcting this line"));
}

eval::Box read_box(const std::vector<std::string>& row, const std::array<Column, 4>& columns,
                   const std::string& where) {
  std::array<double, 4> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = number(data::field(row, columns[i]), where);
  if (!(numbers[2] > 0.0 && numbers[3] > 0.0)) {
    throw DataError(error_text("cli.boxes", where, "a width and height above 0",
                               fmt::format("{:g} x {:g}", numbers[2], numbers[3]), "correcting this line"));
  }
  return {.x = numbers[0], .y = numbers[1], .width = numbers[2], .height = numbers[3]};
}

}  // namespace

BoxFile::BoxFile(const fs::path& path, const std::vector<std::string>& labels, std::int64_t grid_px)
    : grid_px_(grid_px) {
  const io::Csv table = io::read_csv(path).or_throw();
  const std::string what = path.filename().string();
  const Column image = data::first_column(table.header, {"image index", "image", "path", "file", "filename"});
  const Column finding = data::first_column(table.header, {"finding label", "label", "finding"});
  const std::array<Column, 4> columns{
      data::first_column(table.header, {"bbox [x", "x"}), data::first_column(table.header, {"y"}),
      data::first_column(table.header, {"w", "width"}), data::first_column(table.header, {"h]", "h", "height"})};
  const bool has_box = std::ranges::all_of(columns, [](const Column& column) { return column.has_value(); });
  if (!image || !finding || !has_box) {
    throw DataError(error_text("cli.boxes", what, "columns Image Index, Finding Label, x, y, w, h",
                               data::first_names(table.header, 20),
                               "a header like Image Index,Finding Label,Bbox [x,y,w,h]"));
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string where = fmt::format("{} line {}", what, table.lines[i]);
    const eval::Box box = read_box(table.rows[i], columns, where);
    const auto known = data::finding_column(labels, data::field(table.rows[i], finding));
    ++count_;
    if (!known) {
      ++other_labels_;
      continue;
    }
    by_image_[base_name(data::field(table.rows[i], image))].push_back({.label = *known, .box = box});
  }
}

const std::vector<BoxFile::LabelBox>* BoxFile::find(std::string_view image) const {
  const auto found = by_image_.find(base_name(image));
  return found == by_image_.end() ? nullptr : &found->second;
}

std::vector<std::size_t> BoxFile::labels_of(std::string_view image) const {
  std::set<std::size_t> labels;
  if (const auto* boxes = find(image)) {
    for (const LabelBox& box : *boxes) labels.insert(box.label);
  }
  return {labels.begin(), labels.end()};
}

std::vector<eval::Box> BoxFile::boxes_of(std::string_view image, std::size_t label, std::int64_t width_px,
                                         std::int64_t height_px) const {
  std::vector<eval::Box> result;
  const auto* boxes = find(image);
  if (boxes == nullptr) return result;
  const auto grid = static_cast<double>(grid_px_);
  const double across = grid_px_ > 0 ? static_cast<double>(width_px) / grid : 1.0;
  const double down = grid_px_ > 0 ? static_cast<double>(height_px) / grid : 1.0;
  for (const LabelBox& one : *boxes) {
    if (one.label != label) continue;
    result.push_back({.x = one.box.x * across,
                      .y = one.box.y * down,
                      .width = one.box.width * across,
                      .height = one.box.height * down});
  }
  return result;
}

}  // namespace roentgen::score
