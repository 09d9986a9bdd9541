// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/mask_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "core/error.h"
#include "data/source/finding_names.h"
#include "data/source/table_fields.h"

namespace roentgen::score {
namespace {
namespace fs = std::filesystem;

// Returns for each pixel whether its value is at least half of white.
template <typename Sample>
std::vector<bool> inside_of(const data::Image& image) {
  const auto samples = image.samples<Sample>();
  std::vector<bool> is_inside(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    is_inside[i] = 2 * static_cast<std::uint32_t>(samples[i]) >= image.layout().max_value;
  }
  return is_inside;
}
}  // namespace

MaskFolder::MaskFolder(const fs::path& path, const std::vector<std::string>& labels) {
  std::error_code error;
  fs::directory_iterator entries(path, error);
  if (error) {
    throw DataError(error_text("cli.masks", path.string(), "a folder of masks", error.message(),
                               "a folder like masks/ of roentgen synth --masks"));
  }
  for (const fs::directory_entry& entry : entries) {
    if (!entry.is_directory(error)) continue;
    const auto known = data::finding_column(labels, entry.path().filename().string());
    if (known) folders_.emplace_back(*known, entry.path());
  }
  if (folders_.empty()) {
    throw DataError(error_text("cli.masks", path.string(), "folders with the names of the checkpoint's labels",
                               "no such folder",
                               "masks in DIR/<Finding>/<image>.png for one of " + data::first_names(labels, 20)));
  }
  std::ranges::sort(folders_);
}

fs::path MaskFolder::file_of(std::string_view image, const fs::path& folder) const {
  return folder / fs::path(image).filename().replace_extension(".png");
}

std::vector<std::size_t> MaskFolder::labels_of(std::string_view image) const {
  std::vector<std::size_t> labels;
  for (const auto& [label, folder] : folders_) {
    std::error_code ignored;
    if (fs::exists(file_of(image, folder), ignored)) labels.push_back(label);
  }
  return labels;
}

std::optional<eval::Mask> MaskFolder::read(std::string_view image, std::size_t label, std::int64_t width_px,
                                           std::int64_t height_px) {
  const auto found = std::ranges::find(folders_, label, [](const auto& one) { return one.first; });
  if (found == folders_.end()) return std::nullopt;
  const fs::path path = file_of(image, found->second);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  const std::string what = "a mask in " + found->second.filename().string();
  const auto bytes = reader_.read(path, what);
  if (!bytes) throw DataError(bytes.error());
  const Status decoded = decoder_.decode(bytes.value(), what, {.channels = data::Channels::Gray, .limits = {}}, image_);
  if (!decoded) throw DataError(decoded.error());
  if (image_.width_px() != width_px || image_.height_px() != height_px) {
    throw DataError(error_text("cli.masks", what, fmt::format("the image's size, {} x {} px", width_px, height_px),
                               fmt::format("{} x {}", image_.width_px(), image_.height_px()),
                               "masks with the size of the images"));
  }
  eval::Mask mask{.width_px = width_px, .height_px = height_px, .is_inside = {}};
  mask.is_inside = image_.layout().bits == 8 ? inside_of<std::uint8_t>(image_) : inside_of<std::uint16_t>(image_);
  if (std::ranges::find(mask.is_inside, true) == mask.is_inside.end()) return std::nullopt;
  return mask;
}

}  // namespace roentgen::score
