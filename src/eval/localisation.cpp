// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/localisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "eval/text_columns.h"

namespace roentgen::eval {
namespace {

constexpr std::string_view kAll = "all";
// Indices of the IoU thresholds shown in the table: 0.1, 0.3, 0.5, 0.7.
constexpr std::array<std::size_t, 4> kShown{0, 2, 4, 6};

double overlap(double begin, double length, double other_begin, double other_length) {
  return std::max(0.0, std::min(begin + length, other_begin + other_length) - std::max(begin, other_begin));
}

bool is_inside(std::size_t index, std::size_t width, std::span<const Box> boxes) {
  const std::size_t column = index % width;
  const std::size_t row = index / width;
  const double x = static_cast<double>(column) + 0.5;
  const double y = static_cast<double>(row) + 0.5;
  return std::ranges::any_of(boxes, [&](const Box& box) {
    return x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
  });
}

// Returns the share of pixels for which is_hit(index) is true, among the pixels that are not NaN.
template <typename IsHit>
double share_seen(const HeatMap& map, IsHit&& is_hit) {
  std::int64_t seen = 0;
  std::int64_t inside = 0;
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    if (std::isnan(map.values[i])) continue;
    ++seen;
    if (is_hit(i)) ++inside;
  }
  RG_ASSERT(seen > 0);
  return static_cast<double>(inside) / static_cast<double>(seen);
}

bool has_any(const LocalisationRow& row) { return row.maps > 0 || row.masks > 0; }

LocalisationRow total_of(std::span<const LocalisationRow> rows) {
  LocalisationRow total{.label = std::string(kAll)};
  for (const LocalisationRow& row : rows) {
    total.maps += row.maps;
    total.pointing += row.pointing;
    total.pointing_chance += row.pointing_chance;
    for (std::size_t i = 0; i < kIouThresholds.size(); ++i) {
      total.found[i] += row.found[i];
      total.found_by_chance[i] += row.found_by_chance[i];
    }
    total.masks += row.masks;
    total.mask_pointing += row.mask_pointing;
    total.mask_chance += row.mask_chance;
  }
  return total;
}

Value row_value(const LocalisationRow& row) {
  Value::Table value;
  if (row.maps > 0) {
    const auto maps = static_cast<double>(row.maps);
    Value accuracy = Value::array();
    Value chance = Value::array();
    for (const double sum : row.found) accuracy.push_back(sum / maps);
    for (const double sum : row.found_by_chance) chance.push_back(sum / maps);
    value = {{"maps", row.maps},
             {"pointing", row.pointing / maps},
             {"pointing_chance", row.pointing_chance / maps},
             {"accuracy", accuracy},
             {"accuracy_chance", chance}};
  }
  if (row.masks > 0) {
    const auto masks = static_cast<double>(row.masks);
    value.emplace_back("masks", row.masks);
    value.emplace_back("mask_pointing", row.mask_pointing / masks);
    value.emplace_back("mask_pointing_chance", row.mask_chance / masks);
  }
  return Value(std::move(value));
}

}  // namespace

double intersection_over_union(const Box& a, const Box& b) {
  const double both = overlap(a.x, a.width, b.x, b.width) * overlap(a.y, a.height, b.y, b.height);
  const double either = a.width * a.height + b.width * b.height - both;
  return either > 0.0 ? both / either : 0.0;
}

double pointing_hit(const HeatMap& map, std::span<const Box> boxes) {
  RG_ASSERT(!map.peaks.empty());
  const auto width = static_cast<std::size_t>(map.width_px);
  const auto hits = std::ranges::count_if(map.peaks, [&](std::size_t i) { return is_inside(i, width, boxes); });
  return static_cast<double>(hits) / static_cast<double>(map.peaks.size());
}

double pointing_chance(const HeatMap& map, std::span<const Box> boxes) {
  const auto width = static_cast<std::size_t>(map.width_px);
  return share_seen(map, [&](std::size_t i) { return is_inside(i, width, boxes); });
}

double pointing_hit(const HeatMap& map, const Mask& mask) {
  RG_ASSERT(!map.peaks.empty() && mask.width_px == map.width_px && mask.height_px == map.height_px);
  const auto hits = std::ranges::count_if(map.peaks, [&](std::size_t i) { return mask.is_inside[i]; });
  return static_cast<double>(hits) / static_cast<double>(map.peaks.size());
}

double pointing_chance(const HeatMap& map, const Mask& mask) {
  RG_ASSERT(mask.width_px == map.width_px && mask.height_px == map.height_px);
  return share_seen(map, [&](std::size_t i) { return mask.is_inside[i]; });
}

Box heat_box(const HeatMap& map) {
  const auto width = static_cast<std::size_t>(map.width_px);
  const auto level = static_cast<float>(static_cast<double>(map.low) +
                                        kHeatShare * (static_cast<double>(map.high) - static_cast<double>(map.low)));
  RG_ASSERT(!map.peaks.empty());
  const std::size_t peak = map.peaks[0];
  std::vector<bool> is_met(map.values.size(), false);
  std::vector<std::size_t> open{peak};
  is_met[peak] = true;
  std::size_t left = peak % width;
  std::size_t right = left;
  std::size_t top = peak / width;
  std::size_t bottom = top;
  const auto meet = [&](std::size_t index) {
    if (is_met[index] || !(map.values[index] >= level)) return;
    is_met[index] = true;
    open.push_back(index);
  };
  while (!open.empty()) {
    const std::size_t index = open.back();
    open.pop_back();
    const std::size_t x = index % width;
    const std::size_t y = index / width;
    left = std::min(left, x);
    right = std::max(right, x);
    top = std::min(top, y);
    bottom = std::max(bottom, y);
    if (x > 0) meet(index - 1);
    if (x + 1 < width) meet(index + 1);
    if (y > 0) meet(index - width);
    if (index + width < map.values.size()) meet(index + width);
  }
  return {.x = static_cast<double>(left),
          .y = static_cast<double>(top),
          .width = static_cast<double>(right - left + 1),
          .height = static_cast<double>(bottom - top + 1)};
}

std::array<double, kIouThresholds.size()> iou_chances(const Box& found, std::span<const Box> boxes,
                                                      std::int64_t width_px, std::int64_t height_px) {
  const std::int64_t columns = width_px - static_cast<std::int64_t>(found.width) + 1;
  const std::int64_t rows = height_px - static_cast<std::int64_t>(found.height) + 1;
  RG_ASSERT(columns > 0 && rows > 0 && !boxes.empty());
  const double area = found.width * found.height;
  // (box, column) overlap along x of a true box with the found box, moved to the column.
  std::vector<double> across(boxes.size() * static_cast<std::size_t>(columns));
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    for (std::int64_t x = 0; x < columns; ++x) {
      across[b * static_cast<std::size_t>(columns) + static_cast<std::size_t>(x)] =
          overlap(static_cast<double>(x), found.width, boxes[b].x, boxes[b].width);
    }
  }
  std::array<std::int64_t, kIouThresholds.size()> counts{};
  std::vector<double> down(boxes.size());
  for (std::int64_t y = 0; y < rows; ++y) {
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      down[b] = overlap(static_cast<double>(y), found.height, boxes[b].y, boxes[b].height);
    }
    for (std::int64_t x = 0; x < columns; ++x) {
      double best = 0.0;
      for (std::size_t b = 0; b < boxes.size(); ++b) {
        const double both = across[b * static_cast<std::size_t>(columns) + static_cast<std::size_t>(x)] * down[b];
        if (both > 0.0) best = std::max(best, both / (area + boxes[b].width * boxes[b].height - both));
      }
      for (std::size_t i = 0; i < counts.size() && best >= kIouThresholds[i]; ++i) ++counts[i];
    }
  }
  std::array<double, kIouThresholds.size()> chances{};
  std::ranges::transform(counts, chances.begin(), [&](std::int64_t count) {
    return static_cast<double>(count) / static_cast<double>(columns * rows);
  });
  return chances;
}

void LocalisationRow::add(const HeatMap& map, std::span<const Box> boxes) {
  RG_ASSERT(!boxes.empty());
  ++maps;
  pointing += pointing_hit(map, boxes);
  pointing_chance += eval::pointing_chance(map, boxes);
  const Box box = heat_box(map);
  double best = 0.0;
  for (const Box& truth : boxes) best = std::max(best, intersection_over_union(box, truth));
  const auto chances = iou_chances(box, boxes, map.width_px, map.height_px);
  for (std::size_t i = 0; i < kIouThresholds.size(); ++i) {
    if (best >= kIouThresholds[i]) found[i] += 1.0;
    found_by_chance[i] += chances[i];
  }
}

void LocalisationRow::add(const HeatMap& map, const Mask& mask) {
  ++masks;
  mask_pointing += pointing_hit(map, mask);
  mask_chance += eval::pointing_chance(map, mask);
}

std::string to_text(std::span<const LocalisationRow> rows) {
  std::vector<LocalisationRow> shown;
  std::ranges::copy_if(rows, std::back_inserter(shown), has_any);
  if (shown.empty()) return "";
  shown.push_back(total_of(rows));
  const bool has_boxes = shown.back().maps > 0;
  const bool has_masks = shown.back().masks > 0;
  const auto cell = [](double sum, double chance, std::int64_t count) {
    const auto maps = static_cast<double>(count);
    return count > 0 ? fmt::format("{:.3f} ({:.3f})", sum / maps, chance / maps) : std::string("-");
  };
  std::vector<TextRow> lines{{"finding"}};
  for (const LocalisationRow& row : shown) lines.push_back({row.label});
  const auto add_column = [&](std::string title, auto&& cell_of) {
    lines[0].push_back(std::move(title));
    for (std::size_t i = 0; i < shown.size(); ++i) lines[i + 1].push_back(cell_of(shown[i]));
  };
  if (has_boxes) {
    add_column("maps", [](const LocalisationRow& row) { return with_commas(row.maps); });
    add_column("pointing game",
               [&](const LocalisationRow& row) { return cell(row.pointing, row.pointing_chance, row.maps); });
    for (const std::size_t i : kShown) {
      add_column(fmt::format("IoU >= {}", kIouThresholds[i]),
                 [&](const LocalisationRow& row) { return cell(row.found[i], row.found_by_chance[i], row.maps); });
    }
  }
  if (has_masks) {
    add_column("masks", [](const LocalisationRow& row) { return with_commas(row.masks); });
    add_column("pointing at masks",
               [&](const LocalisationRow& row) { return cell(row.mask_pointing, row.mask_chance, row.masks); });
  }
  return in_columns(std::move(lines), LastLine::Apart);
}

Value to_value(std::span<const LocalisationRow> rows) {
  Value thresholds = Value::array();
  for (const double threshold : kIouThresholds) thresholds.push_back(threshold);
  Value labels = Value::table();
  for (const LocalisationRow& row : rows) {
    if (has_any(row)) labels.set(row.label, row_value(row));
  }
  const LocalisationRow total = total_of(rows);
  return Value::Table{{"heat_share", kHeatShare},
                      {"iou_thresholds", thresholds},
                      {"labels", labels},
                      {"all", has_any(total) ? row_value(total) : Value(nullptr)}};
}

}  // namespace roentgen::eval
