// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/heatmap_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/foreign_text.h"
#include "data/transform/augment.h"
#include "data/transform/geometry.h"
#include "io/npy.h"
#include "io/png_writer.h"

namespace roentgen::publish {
namespace {

namespace fs = std::filesystem;

constexpr int kPngLevel = 2;  // higher levels make overlays hardly smaller, and level 6 takes three times as long
constexpr std::uint8_t kWhite = 255;

eval::MapAxis axis_of(const data::Axis& axis) {
  return {.start = axis.start, .step = axis.step, .inputs = axis.outputs, .pixels = axis.source};
}

// Largest length of image name and label in a file name, so that the whole name has at most 255 bytes.
constexpr std::size_t kLongestName = 100;

// Replaces all characters except letters, digits, '-' and '_' by '_'.
std::string file_name(std::string_view text) {
  std::string name(text.substr(0, kLongestName));
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
  }
  return name;
}

// Draws the outline of a box, one pixel wide, clipped to the picture.
void draw(const eval::Box& box, const Picture& picture, std::vector<std::uint8_t>& rgb) {
  const auto at = [](double place, std::int64_t most) {
    return std::clamp(static_cast<std::int64_t>(std::floor(place)), std::int64_t{0}, most - 1);
  };
  const std::int64_t left = at(box.x, picture.width_px());
  const std::int64_t right = at(box.x + box.width - 1.0, picture.width_px());
  const std::int64_t top = at(box.y, picture.height_px());
  const std::int64_t bottom = at(box.y + box.height - 1.0, picture.height_px());
  const auto set = [&](std::int64_t x, std::int64_t y) {
    std::fill_n(rgb.begin() + 3 * (y * picture.width_px() + x), 3, kWhite);
  };
  for (std::int64_t x = left; x <= right; ++x) {
    set(x, top);
    set(x, bottom);
  }
  for (std::int64_t y = top; y <= bottom; ++y) {
    set(left, y);
    set(right, y);
  }
}

}  // namespace

Status Picture::load(const data::Sample& sample) { return reader_.load(sample, data::Channels::Gray, image_); }

std::vector<std::uint8_t> Picture::gray() const {
  std::vector<std::uint8_t> levels(static_cast<std::size_t>(width_px() * height_px()));
  if (image_.layout().bits == 8 && image_.layout().max_value == kWhite) {
    std::ranges::copy(image_.samples<std::uint8_t>(), levels.begin());
    return levels;
  }
  const double scale = 255.0 / image_.layout().max_value;
  const auto to_level = [scale](auto sample) {
    return static_cast<std::uint8_t>(std::clamp(std::lround(scale * sample), 0L, 255L));
  };
  if (image_.layout().bits == 8) {
    std::ranges::transform(image_.samples<std::uint8_t>(), levels.begin(), to_level);
  } else {
    std::ranges::transform(image_.samples<std::uint16_t>(), levels.begin(), to_level);
  }
  return levels;
}

eval::HeatMap Picture::map_back(const eval::CoarseMap& cells, const data::Preprocess& preprocess) const {
  const data::Geometry geometry = data::geometry_of(image_.layout(), preprocess, data::AugmentDraw{});
  return eval::map_back(cells, axis_of(geometry.x), axis_of(geometry.y));
}

HeatmapFolder::HeatmapFolder(fs::path path, std::string method, ImageNames names, RawMaps raw)
    : path_(std::move(path)), method_(std::move(method)), names_(names), raw_(raw) {
  std::error_code error;
  const bool is_taken = fs::exists(path_, error) && !(fs::is_directory(path_, error) && fs::is_empty(path_, error));
  if (is_taken) {
    throw DataError(error_text("cli.heatmaps", "--out " + path_.string(), "a new or empty folder",
                               "a folder that is not empty", "another folder, or deleting this one"));
  }
  fs::create_directories(path_, error);
  if (error) {
    throw DataError(error_text("cli.heatmaps", "--out " + path_.string(), "a folder that can be written",
                               error.message(), "another folder"));
  }
  table_ = std::make_unique<io::AtomicFile>(path_ / "heatmaps.csv");
  table_->write("Image Index,label,probability,overlay,map,method,low,high,peak_x,peak_y\n");
}

std::string HeatmapFolder::stem(const HeatmapEntry& entry) {
  std::string name = fmt::format("{:06}_", entry.number);
  if (!stems_.empty() && !stems_.begin()->starts_with(name)) stems_.clear();  // clears the names of the previous image
  if (names_ == ImageNames::Shown) name += file_name(fs::path(entry.image).stem().string()) + "_";
  name += file_name(entry.label);
  std::string own = name;
  for (int i = 2; !stems_.insert(own).second; ++i) own = fmt::format("{}_{}", name, i);
  return own;
}

void HeatmapFolder::write(const HeatmapEntry& entry, const Picture& picture, const eval::HeatMap& map,
                          std::span<const eval::Box> boxes) {
  const std::string name = stem(entry);
  std::vector<std::uint8_t> rgb = eval::overlay(picture.gray(), map);
  for (const eval::Box& box : boxes) draw(box, picture, rgb);
  io::write_png(
      path_ / (name + ".png"),
      {.width_px = map.width_px, .height_px = map.height_px, .channels = 3, .pixels = std::as_bytes(std::span(rgb))},
      kPngLevel);
  const std::string raw_name = raw_ == RawMaps::Written ? name + ".npy" : "";
  if (!raw_name.empty()) io::write_npy(path_ / raw_name, {map.height_px, map.width_px}, map.values);
  const std::size_t peak = map.peaks.front();
  const auto width = static_cast<std::size_t>(map.width_px);
  table_->write(fmt::format("{},{},{:.9g},{}.png,{},{},{:.9g},{:.9g},{},{}\n", csv_field(entry.image),
                            csv_field(entry.label), entry.probability, name, raw_name, method_, map.low, map.high,
                            peak % width, peak / width));
  ++count_;
}

void HeatmapFolder::finish() { table_->commit(); }

}  // namespace roentgen::publish
