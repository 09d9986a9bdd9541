// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/record_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
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

// Takes the digits at the end of `text` off it; nothing where there are none, or more than are in any name.
std::optional<std::int64_t> take_number(std::string_view& text) {
  constexpr std::size_t kMostDigits = 9;
  const auto last = text.find_last_not_of("0123456789");
  const std::string_view digits = text.substr(last == std::string_view::npos ? 0 : last + 1);
  if (digits.empty() || digits.size() > kMostDigits) return std::nullopt;
  text.remove_suffix(digits.size());
  std::int64_t number = 0;
  for (const char digit : digits) number = 10 * number + (digit - '0');
  return number;
}

// NAME-00000-of-00010, with an ending or without.
struct Numbered {
  std::string_view name;
  std::int64_t count = 0;
};
std::optional<Numbered> numbered(std::string_view name) {
  constexpr std::string_view kOf = "-of-";
  name = name.substr(0, name.find('.'));
  const auto count = take_number(name);
  if (!count || !name.ends_with(kOf)) return std::nullopt;
  name.remove_suffix(kOf.size());
  if (!take_number(name) || !name.ends_with('-') || name.size() < 2) return std::nullopt;
  name.remove_suffix(1);
  return Numbered{.name = name, .count = *count};
}

Split split_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Split>, 8> kPrefixes{{{"train", Split::Train},
                                                                         {"training", Split::Train},
                                                                         {"eval", Split::Val},
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

std::string absent_record_files(const std::vector<RecordFile>& files) {
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> found;
  for (const RecordFile& file : files) {
    const std::string name = file.path.filename().string();
    if (const auto parts = numbered(name)) ++found[{std::string(parts->name), parts->count}];
  }
  std::string absent;
  for (const auto& [group, count] : found) {
    if (count >= group.second) continue;
    absent += fmt::format("{}{} of {}-*-of-{:05}", absent.empty() ? "" : ", ", group.second - count, group.first,
                          group.second);
  }
  return absent;
}

std::vector<RecordFile> record_files(const std::filesystem::path& folder, RecordKind kind) {
  std::vector<RecordFile> files;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    const bool is_plain = name.find('.') == std::string::npos;
    if (!has_ending(name, kind) && !(is_plain && numbered(name))) continue;
    if (name.starts_with('.') || !at->is_regular_file(ignored)) continue;
    files.push_back({.path = at->path(), .split = split_of(name), .has_ending = has_ending(name, kind)});
  }
  std::ranges::sort(files, {}, &RecordFile::path);
  return files;
}

}  // namespace roentgen::data
