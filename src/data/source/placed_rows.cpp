// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/placed_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <set>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "data/source/image_index.h"

namespace roentgen::data {

namespace fs = std::filesystem;

bool PlacedRows::has(const fs::path& path) {
  const fs::path folder = path.parent_path();
  auto [position, is_new] = folders_.try_emplace(folder.string());
  if (is_new) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      std::error_code unreadable;
      if (it->is_regular_file(unreadable)) position->second.insert(it->path().filename().string());
    }
  }
  return position->second.contains(path.filename().string());
}

bool PlacedRows::take(Sample& sample, const std::vector<fs::path>& places, std::string_view where) {
  ++rows_;
  const auto found = std::ranges::find_if(places, [this](const fs::path& place) { return has(place); });
  sample.path = found == places.end() ? places.back() : *found;
  const bool is_new_id = ids_.insert(fs::path(sample.id).lexically_normal().string()).second;
  const bool is_new_path = paths_.insert(sample.path.lexically_normal().string()).second;
  if (!is_new_id || !is_new_path) {
    repeated_.push_back(sample.id);
    return false;
  }
  if (found != places.end()) return true;
  // An absent image can be skipped if told; a folder in its place is a mistake in the table.
  std::error_code ignored;
  if (fs::is_directory(sample.path, ignored)) {
    throw DataError(error_text("data.csv", std::string(where) + ": " + sample.path.string(), "a file", "a folder",
                               "the path of an image in it"));
  }
  absent_.push_back(sample.id);
  return false;
}

void PlacedRows::pass_over(const std::vector<fs::path>& places) {
  for (const fs::path& place : places) passed_over_.insert(place.lexically_normal().string());
}

void PlacedRows::settle() {
  settle_repeated(repeated_, options_, listing_);
  settle_absent(absent_, rows_, options_, listing_);
}

void PlacedRows::note_unnamed() {
  std::int64_t unnamed = 0;
  std::set<std::string> top;  // folders directly below the data folder where rows have their places
  for (const auto& entry : folders_) {
    const fs::path folder = fs::path(entry.first).lexically_normal();
    const fs::path below = folder.lexically_relative(options_.root.lexically_normal());
    if (!below.empty()) top.insert(below.begin()->string());
    unnamed += std::ranges::count_if(entry.second, [&](const std::string& name) {
      const bool is_image = !name.starts_with('.') && has_image_extension(name);
      const std::string path = (folder / name).lexically_normal().string();
      return is_image && !paths_.contains(path) && !passed_over_.contains(path);
    });
  }
  std::vector<std::string> others;
  std::error_code error;
  for (fs::directory_iterator it(options_.root, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code unreadable;
    const bool is_passed = name.starts_with('.') || is_companion_folder(name) || is_archive_folder(name);
    if (is_passed || top.contains(name) || !it->is_directory(unreadable)) continue;
    const auto is_image = [](const fs::directory_entry& entry) {
      std::error_code ignored;
      return has_image_extension(entry.path()) && entry.is_regular_file(ignored);
    };
    if (std::any_of(fs::directory_iterator(it->path(), unreadable), fs::directory_iterator(), is_image)) {
      others.push_back(name);
    }
  }
  std::ranges::sort(others);
  if (unnamed > 0) listing_.notes.push_back(fmt::format("image files that no row names: {}", unnamed));
  if (!others.empty()) {
    listing_.notes.push_back("folders of images of which no row names one: " + first_names(others));
  }
}

float parse_age(std::string_view text) {
  float age = 0.0F;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), age);
  const bool is_age = error == std::errc() && end == text.data() + text.size() && age >= 0.0F && age <= 120.0F;
  return is_age ? age : std::numeric_limits<float>::quiet_NaN();
}

std::string parse_sex(std::string_view text) {
  std::string word(text);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word == "m" || word == "male") return "M";
  if (word == "f" || word == "female") return "F";
  if (word == "unknown" || word == "u" || word == "nan" || word == "none") return {};
  return std::string(text);
}

}  // namespace roentgen::data
