// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/folder_walk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "core/error.h"
#include "core/lower_case.h"
#include "data/source/class_layout.h"
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
  companion_images += other.companion_images;
  image_folders.insert(image_folders.end(), other.image_folders.begin(), other.image_folders.end());
  hidden += other.hidden;
  unreadable += other.unreadable;
  repeated.insert(repeated.end(), other.repeated.begin(), other.repeated.end());
  return *this;
}

namespace {

// Text such as " (val, which is test)" for folders whose names are splits. Other names may contain a patient's name, so
// they are not printed.
std::string splits_in(const std::vector<std::pair<fs::path, fs::path>>& repeated) {
  std::vector<std::string> texts;
  for (const auto& [path, first] : repeated) {
    const std::string name = path.filename().string(), read = first.filename().string();
    if (split_of_folder(name) && split_of_folder(read)) texts.push_back(fmt::format("{}, which is {}", name, read));
  }
  return texts.empty() ? std::string() : fmt::format(" ({})", fmt::join(texts, "; "));
}

}  // namespace

std::vector<std::string> LeftOut::notes(std::string_view why) const {
  std::vector<std::string> notes;
  if (!files.is_empty()) notes.push_back(fmt::format("files left out, {}: {}", why, files.text()));
  if (!dangling.empty()) notes.push_back(fmt::format("broken links, left out: {}", dangling.size()));
  if (hidden > 0)
    notes.push_back(fmt::format("images left out, because their names or folders begin with a dot: {}", hidden));
  if (companions > 0) {
    notes.push_back(fmt::format("folders called masks or pairs, ignored: {} (image files in them: {})", companions,
                                companion_images));
  }
  if (!image_folders.empty()) {
    notes.push_back(fmt::format("folders whose names end like image files: {}", image_folders.size()));
  }
  if (unreadable > 0) notes.push_back(fmt::format("folders that cannot be read, ignored: {}", unreadable));
  if (!repeated.empty()) {
    notes.push_back(
        fmt::format("links to folders that are read anyway, ignored: {}{}", repeated.size(), splits_in(repeated)));
  }
  return notes;
}

// Counts image files below a skipped folder, without following links to folders.
std::int64_t FolderWalk::images_below(const fs::path& folder) const {
  std::int64_t images = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (has_image_extension(it->path()) && it->is_regular_file(ignored) && counts_(it->path())) ++images;
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
  std::vector<fs::directory_entry> entries = sorted_entries(path, error);
  if (error && passes_unreadable_) {
    ++left_out_.unreadable;
  } else if (error) {
    throw DataError(error_text("data.folder", path.string(), "a readable folder", error.message(),
                               "changing its permissions, or another folder"));
  }
  if (order_ == WalkOrder::FilesFirst) {
    std::stable_partition(entries.begin(), entries.end(), [](const fs::directory_entry& entry) {
      std::error_code unreadable;
      return !entry.is_directory(unreadable);
    });
  }
  if (!last_.empty()) {
    std::stable_partition(entries.begin(), entries.end(),
                          [this](const fs::directory_entry& entry) { return !last_.contains(entry.path()); });
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
    const auto images = [&] { return has_image_extension(path) && counts_(path) ? 1 : 0; };
    left_out_.hidden += is_folder ? images_below(path) : images();
  } else if (is_folder) {
    if (is_companion_folder(name)) {
      ++left_out_.companions;
      left_out_.companion_images += images_below(path);
    } else if (!is_archive_folder(name)) {
      if (has_image_extension(path)) left_out_.image_folders.push_back(path);
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

std::vector<fs::directory_entry> sorted_entries(const fs::path& folder, std::error_code& error) {
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) entries.push_back(*it);
  std::ranges::sort(entries, {},
                    [](const fs::directory_entry& entry) -> const std::string& { return entry.path().native(); });
  return entries;
}

std::vector<fs::directory_entry> sorted_entries(const fs::path& folder) {
  std::error_code ignored;
  return sorted_entries(folder, ignored);
}

std::string ending_of(const fs::path& path) {
  const std::string ending = lower_case(path.extension().string());
  if (ending.size() < 2) return "no ending";
  const bool has_blank = ending.find_first_of(" \t") != std::string::npos;
  return has_blank ? fmt::format("\"{}\"", ending) : ending;
}

}  // namespace roentgen::data
