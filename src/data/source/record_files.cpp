// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/record_files.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace roentgen::data {
namespace {

bool has_ending(std::string_view name, RecordKind /*kind*/) {
  constexpr std::array<std::string_view, 3> kEndings{".tfrecord", ".tfrecords", ".tfrec"};
  return std::ranges::any_of(kEndings, [name](std::string_view ending) { return name.ends_with(ending); });
}

// Takes the digits at the end of `text` off it; false where there are none.
bool take_digits(std::string_view& text) {
  const auto last = text.find_last_not_of("0123456789");
  const auto begin = last == std::string_view::npos ? 0 : last + 1;
  if (begin == text.size()) return false;
  text = text.substr(0, begin);
  return true;
}

// NAME-00000-of-00010
bool is_numbered(std::string_view name) {
  constexpr std::string_view kOf = "-of-";
  if (!take_digits(name) || !name.ends_with(kOf)) return false;
  name.remove_suffix(kOf.size());
  return take_digits(name) && name.ends_with('-') && name.size() > 1;
}

Split split_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Split>, 6> kPrefixes{{{"train", Split::Train},
                                                                         {"validation", Split::Val},
                                                                         {"validate", Split::Val},
                                                                         {"valid", Split::Val},
                                                                         {"val", Split::Val},
                                                                         {"test", Split::Test}}};
  for (const auto& [prefix, split] : kPrefixes) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    if (rest.starts_with('-') || rest.starts_with('_') || rest.starts_with('.')) return split;
  }
  return Split::None;
}

}  // namespace

std::vector<RecordFile> record_files(const std::filesystem::path& folder, RecordKind kind) {
  std::vector<RecordFile> files;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    if (!has_ending(name, kind) && !is_numbered(name)) continue;
    if (name.starts_with('.') || !at->is_regular_file(ignored)) continue;
    files.push_back({.path = at->path(), .split = split_of(name)});
  }
  std::ranges::sort(files, {}, &RecordFile::path);
  return files;
}

}  // namespace roentgen::data
