// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/record_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace roentgen::data {
namespace {

// Also gzipped.
bool has_ending(std::string_view name, RecordKind kind) {
  static constexpr std::array<std::string_view, 3> kTfRecord{".tfrecord", ".tfrecords", ".tfrec"};
  static constexpr std::array<std::string_view, 2> kTar{".tar", ".tgz"};
  static constexpr std::array<std::string_view, 1> kRecordIo{".rec"};
  static constexpr std::array<std::span<const std::string_view>, 3> kEndings{kTfRecord, kTar, kRecordIo};
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return std::ranges::any_of(kEndings.at(static_cast<std::size_t>(kind)),
                             [name](std::string_view ending) { return name.ends_with(ending); });
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

}  // namespace

Split split_of_name(std::string_view name) {
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

namespace {

// Caffe's: train_lmdb/data.mdb, val_lmdb/data.mdb, or data.mdb alone.
std::vector<RecordFile> databases(const std::filesystem::path& folder) {
  constexpr std::string_view kFile = "data.mdb";
  std::error_code ignored;
  if (std::filesystem::is_regular_file(folder / kFile, ignored)) {
    return {{.path = folder / kFile, .name = std::string(kFile), .split = Split::None, .has_ending = true}};
  }
  std::vector<RecordFile> files;
  for (std::filesystem::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with('.') || !std::filesystem::is_regular_file(at->path() / kFile, ignored)) continue;
    files.push_back({.path = at->path() / kFile,
                     .name = fmt::format("{}/{}", name, kFile),
                     .split = split_of_name(name + "."),
                     .has_ending = true});
  }
  std::ranges::sort(files, {}, &RecordFile::path);
  return files;
}

}  // namespace

std::vector<RecordFile> record_files(const std::filesystem::path& folder, RecordKind kind) {
  if (kind == RecordKind::Lmdb) return databases(folder);
  std::vector<RecordFile> files;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    std::string_view stem = name;
    if (stem.ends_with(".gz")) stem.remove_suffix(3);
    const bool is_numbered =
        kind == RecordKind::TfRecord && stem.find('.') == std::string_view::npos && numbered(stem).has_value();
    if (!has_ending(name, kind) && !is_numbered) continue;
    if (name.starts_with('.') || !at->is_regular_file(ignored)) continue;
    files.push_back(
        {.path = at->path(), .name = name, .split = split_of_name(name), .has_ending = has_ending(name, kind)});
  }
  std::ranges::sort(files, {}, &RecordFile::path);
  return files;
}

}  // namespace roentgen::data
