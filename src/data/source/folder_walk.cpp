// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/folder_walk.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <system_error>

#include "core/error.h"
#include "data/source/image_index.h"

namespace roentgen::data {

namespace fs = std::filesystem;

Tally& Tally::operator+=(const Tally& other) {
  for (const auto& [name, count] : other.counts_) counts_[name] += count;
  return *this;
}

std::int64_t Tally::total() const {
  std::int64_t total = 0;
  for (const auto& entry : counts_) total += entry.second;
  return total;
}

std::string Tally::text() const {
  std::string text;
  for (const auto& [name, count] : counts_) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  return text;
}

LeftOut& LeftOut::operator+=(const LeftOut& other) {
  files += other.files;
  dangling.insert(dangling.end(), other.dangling.begin(), other.dangling.end());
  companions += other.companions;
  hidden += other.hidden;
  repeated.insert(repeated.end(), other.repeated.begin(), other.repeated.end());
  return *this;
}

std::vector<std::string> LeftOut::notes(std::string_view why) const {
  std::vector<std::string> notes;
  if (!files.is_empty()) notes.push_back(fmt::format("files left out, {}: {}", why, files.text()));
  if (!dangling.empty()) notes.push_back(fmt::format("links left out, which lead nowhere: {}", dangling.size()));
  if (hidden > 0)
    notes.push_back(fmt::format("images left out, since their names or folders begin with a dot: {}", hidden));
  if (companions > 0) notes.push_back(fmt::format("folders called masks or pairs, passed over: {}", companions));
  if (!repeated.empty()) {
    notes.push_back(fmt::format("links to folders that are read anyway, passed over: {}", repeated.size()));
  }
  return notes;
}

// Image files below a folder that is passed over, without those behind links to folders.
std::int64_t FolderWalk::images_below(const fs::path& folder) {
  std::int64_t images = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored) && has_image_extension(it->path())) ++images;
  }
  return images;
}

void FolderWalk::walk(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  const auto [position, is_new] = visited_.try_emplace(error ? path : real, path);
  if (!is_new) {
    left_out_.repeated.emplace_back(path, position->second);
    return;
  }
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) entries.push_back(*it);
  if (error) {
    throw DataError(error_text("data.folder", path.string(), "a readable folder", error.message(),
                               "other permissions there, or another folder"));
  }
  std::ranges::sort(entries);
  if (order_ == WalkOrder::FilesFirst) {
    std::ranges::stable_partition(entries, [](const fs::directory_entry& entry) {
      std::error_code unreadable;
      return !entry.is_directory(unreadable);
    });
  }
  for (const fs::directory_entry& entry : entries) {
    if (stop_()) return;
    take(entry);
  }
}

void FolderWalk::take(const fs::directory_entry& entry) {
  const fs::path& path = entry.path();
  const std::string name = path.filename().string();
  std::error_code error;
  const bool is_folder = entry.is_directory(error);
  if (name.starts_with('.')) {
    left_out_.hidden += is_folder ? images_below(path) : has_image_extension(path) ? 1 : 0;
  } else if (is_folder) {
    if (is_companion_folder(name)) {
      ++left_out_.companions;
    } else if (name != kArchiveFolder) {
      walk(path);
    }
  } else if (!entry.exists(error)) {
    left_out_.dangling.push_back(path);
  } else if (!entry.is_regular_file(error)) {
    left_out_.files.add("no file");
  } else if (!take_(path)) {
    left_out_.files.add(ending_of(path));
  }
}

std::string ending_of(const fs::path& path) {
  std::string ending = path.extension().string();
  if (ending.size() < 2) return "no ending";
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool has_blank = ending.find_first_of(" \t") != std::string::npos;
  return has_blank ? fmt::format("\"{}\"", ending) : ending;
}

}  // namespace roentgen::data
