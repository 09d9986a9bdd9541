// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/split_lists.h"

#include <fmt/core.h>

#include <sstream>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "data/source/source.h"
#include "io/file.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

// Byte order mark that Windows editors put at the start of a file.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Reads the words after the name, each 0 or 1.
std::vector<float> read_marks(std::istringstream& words, const std::string& where) {
  std::vector<float> marks;
  for (std::string word; words >> word;) {
    if (word != "0" && word != "1") {
      throw DataError(error_text("data.split", where, "0 or 1 as labels after the image name", "\"" + word + "\"",
                                 "image names without spaces, one per line"));
    }
    marks.push_back(word == "1" ? 1.0F : 0.0F);
  }
  return marks;
}

std::optional<NameList> look_for(const SourceOptions& options, std::string_view name) {
  std::vector<fs::path> folders{options.root, options.root / "labels"};
  for (const auto& path : options.csv) folders.push_back(below_root(options, path).parent_path());
  for (const auto& folder : folders) {
    std::error_code error;
    if (fs::is_regular_file(folder / name, error)) return read_name_list(folder / name);
  }
  return std::nullopt;
}

std::optional<NameList> named(const SourceOptions& options, const fs::path& path) {
  if (path.empty()) return std::nullopt;
  return read_name_list(below_root(options, path));
}

}  // namespace

NameList read_name_list(const fs::path& path) {
  std::string text = io::read_text(path).or_throw<DataError>();
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  NameList list{.path = path, .names = {}, .labels = {}};
  std::unordered_set<std::string> seen;
  std::istringstream lines(text);
  std::int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::string name;
    if (!(words >> name)) continue;
    const std::string where = fmt::format("{} line {}", path.filename().string(), number);
    if (!seen.insert(name).second) {
      throw DataError(error_text("data.split", where, "each image once", name + " again", "removing that line"));
    }
    list.labels.push_back(read_marks(words, where));
    if (list.labels.back().size() != list.labels.front().size()) {
      throw DataError(error_text(
          "data.split", where, fmt::format("{} labels (0 or 1), as on the first line", list.labels.front().size()),
          fmt::format("{}", list.labels.back().size()), "writing the same number of labels on each line"));
    }
    list.names.push_back(std::move(name));
  }
  if (list.names.empty()) {
    throw DataError(error_text("data.split", path.string(), "an image name on each line", "an empty file",
                               "another list, or removing this one"));
  }
  return list;
}

SplitLists find_split_lists(const SourceOptions& options) {
  const SplitOptions& split = options.split;
  SplitLists lists{.train_val = named(options, split.train_val_list),
                   .train = named(options, split.train_list),
                   .val = named(options, split.val_list),
                   .test = named(options, split.test_list)};
  if (lists.any()) return lists;
  return {.train_val = look_for(options, "train_val_list.txt"),
          .train = look_for(options, "train_list.txt"),
          .val = look_for(options, "val_list.txt"),
          .test = look_for(options, "test_list.txt")};
}

}  // namespace roentgen::data
