// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/record_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/lower_case.h"
#include "data/source/split.h"

namespace roentgen::data {
namespace {

// Removes the digits at the end of `text` and returns their value; nullopt if there are none or too many.
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

// A name of the form NAME-00000-of-00010.
struct Numbered {
  std::string_view name;
  std::int64_t number = 0;
  std::int64_t count = 0;
};
std::optional<Numbered> numbered_without_ending(std::string_view name) {
  constexpr std::string_view kOf = "-of-";
  const auto count = take_number(name);
  if (!count || !name.ends_with(kOf)) return std::nullopt;
  name.remove_suffix(kOf.size());
  const auto number = take_number(name);
  if (!number || !name.ends_with('-') || name.size() < 2) return std::nullopt;
  name.remove_suffix(1);
  return Numbered{.name = name, .number = *number, .count = *count};
}

std::string_view without_gz(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name;
}

// Parses a numbered name with the extension after the numbers, before them (NAME.tfrecord-00000-of-00010), or without
// one.
std::optional<Numbered> numbered(std::string_view name) {
  name = without_gz(name);
  for (const std::size_t end : {name.size(), name.rfind('.'), name.find('.')}) {
    if (const auto found = numbered_without_ending(name.substr(0, end))) return found;
  }
  return std::nullopt;
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// True if a name has an extension of this format. Also accepts .gz, and numbers after the extension.
bool has_ending(std::string_view name, RecordKind kind) {
  static constexpr std::array<std::string_view, 3> kTfRecord{".tfrecord", ".tfrecords", ".tfrec"};
  static constexpr std::array<std::string_view, 2> kTar{".tar", ".tgz"};
  static constexpr std::array<std::string_view, 1> kRecordIo{".rec"};
  static constexpr std::array<std::span<const std::string_view>, 3> kEndings{kTfRecord, kTar, kRecordIo};
  name = without_gz(name);
  if (const auto numbers = numbered_without_ending(name)) name = numbers->name;
  const auto ends_with = [small = lower_case(name)](std::string_view ending) { return small.ends_with(ending); };
  return std::ranges::any_of(kEndings.at(static_cast<std::size_t>(kind)), ends_with);
}

}  // namespace

bool has_record_ending(std::string_view name) {
  return has_ending(name, RecordKind::TfRecord) || has_ending(name, RecordKind::Tar) ||
         has_ending(name, RecordKind::RecordIo);
}

Split split_of_name(std::string_view name) {
  const auto end = std::ranges::find_if_not(name, is_letter);
  if (end == name.end()) return Split::None;
  const std::string word = lower_case(std::string_view(name.begin(), end));
  return word == "eval" ? Split::Val : find_split(word).value_or(Split::None);
}

bool holds_split_word(std::string_view name) {
  const std::string small = lower_case(name);
  for (auto begin = small.begin(); begin != small.end();) {
    const auto end = std::find_if_not(begin, small.end(), is_letter);
    const auto split = find_split(std::string_view(begin, end));
    if (split && *split != Split::None) return true;
    begin = std::find_if(end, small.end(), is_letter);
  }
  return false;
}

std::string absent_record_files(const std::vector<RecordFile>& files) {
  std::map<std::pair<std::string, std::int64_t>, std::set<std::int64_t>> found;
  for (const RecordFile& file : files) {
    const std::string name = file.path.filename().string();
    if (const auto parts = numbered(name)) found[{std::string(parts->name), parts->count}].insert(parts->number);
  }
  std::string absent;
  for (const auto& [group, numbers] : found) {
    const std::int64_t count = std::ssize(numbers);
    if (count >= group.second) continue;
    absent += fmt::format("{}{} of {}-*-of-{:05}", absent.empty() ? "" : ", ", group.second - count, group.first,
                          group.second);
  }
  return absent;
}

std::vector<std::string> gaps_between_record_files(const std::vector<RecordFile>& files) {
  constexpr std::size_t kMostDigits = 6;  // longer numbers are dates and similar
  struct Group {
    std::size_t digits = 0;
    std::set<std::int64_t> numbers;
  };
  std::map<std::pair<std::string, std::string>, Group> groups;  // by the text before and after the number
  for (const RecordFile& file : files) {
    const std::string name = file.path.filename().string();
    const std::size_t end = without_gz(name).rfind('.');
    std::string_view before = std::string_view(name).substr(0, end);
    const std::size_t length = before.size();
    const auto number = numbered(name) ? std::nullopt : take_number(before);
    if (!number || length - before.size() > kMostDigits) continue;
    Group& group = groups[{std::string(before), std::string(without_gz(name).substr(length))}];
    group.digits = group.numbers.empty() ? length - before.size() : std::min(group.digits, length - before.size());
    group.numbers.insert(*number);
  }
  std::vector<std::string> gaps;
  for (const auto& [name, group] : groups) {
    for (std::int64_t number = *group.numbers.begin(); number < *group.numbers.rbegin(); ++number) {
      if (group.numbers.contains(number)) continue;
      gaps.push_back(fmt::format("{}{:0{}}{}", name.first, number, group.digits, name.second));
    }
  }
  return gaps;
}

namespace {

// True for files, for links without a target and for files without permission; reading them reports the error.
bool may_be_file(const std::filesystem::path& path) {
  using std::filesystem::file_type;
  std::error_code ignored;
  const file_type type = std::filesystem::status(path, ignored).type();
  if (type == file_type::not_found) return std::filesystem::is_symlink(path, ignored);
  return type == file_type::regular || type == file_type::unknown || type == file_type::none;
}

void require_listed(const std::filesystem::path& folder, const std::error_code& error) {
  if (!error) return;
  throw DataError(error_text("data.records", folder.string(), "a folder that can be listed", error.message(),
                             "again, or another copy of the data"));
}

constexpr std::string_view kDatabase = "data.mdb";

// Caffe's databases: train_lmdb/data.mdb, val_lmdb/data.mdb, or only data.mdb.
std::vector<RecordFile> databases(const std::filesystem::path& folder) {
  if (!may_be_file(folder / kDatabase)) return databases_below(folder);
  return {{.path = folder / kDatabase, .name = std::string(kDatabase), .split = Split::None, .has_ending = true}};
}

}  // namespace

std::vector<RecordFile> databases_below(const std::filesystem::path& folder) {
  std::error_code ignored, error;
  std::vector<RecordFile> files;
  for (std::filesystem::directory_iterator at(folder, ignored), end; at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with('.') || !may_be_file(at->path() / kDatabase)) continue;
    files.push_back({.path = at->path() / kDatabase,
                     .name = fmt::format("{}/{}", name, kDatabase),
                     .split = split_of_name(name + "."),
                     .has_ending = true});
  }
  require_listed(folder, error);
  std::ranges::sort(files, {}, &RecordFile::path);
  return files;
}

std::vector<RecordFile> record_files(const std::filesystem::path& folder, RecordKind kind) {
  if (kind == RecordKind::Lmdb) return databases(folder);
  std::vector<RecordFile> files;
  std::error_code ignored, error;
  for (std::filesystem::directory_iterator at(folder, ignored), end; at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool is_numbered = kind == RecordKind::TfRecord && name.find('.') >= without_gz(name).size() &&
                             numbered_without_ending(without_gz(name)).has_value();
    if (!has_ending(name, kind) && !is_numbered) continue;
    if (name.starts_with('.') || !may_be_file(at->path())) continue;
    files.push_back(
        {.path = at->path(), .name = name, .split = split_of_name(name), .has_ending = has_ending(name, kind)});
  }
  require_listed(folder, error);
  std::ranges::sort(files, {}, &RecordFile::path);
  return files;
}

}  // namespace roentgen::data
