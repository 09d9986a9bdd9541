// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/table_splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "core/error.h"
#include "data/source/class_layout.h"
#include "data/source/split.h"
#include "data/source/split_lists.h"
#include "data/source/table_fields.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

/// Splits that words in a name state: "trainset", "labels_test", "cxr-valid-2".
std::set<Split> splits_in(const fs::path& name) {
  std::set<Split> splits;
  for (const std::string_view part : parts_like(name.string())) {
    if (const auto split = find_split(part)) splits.insert(*split);
  }
  return splits;
}

/// Path of a table relative to the root if it lies below it, else only its name.
fs::path name_below(const fs::path& table, const fs::path& root) {
  fs::path name = table.lexically_relative(root);
  return name.empty() || *name.begin() == ".." ? table.filename() : name;
}

/// Splits that a table's name states, else the splits that its folder's name states.
std::set<Split> splits_of(const fs::path& name) {
  const std::set<Split> splits = splits_in(name.filename());
  return splits.empty() ? splits_in(name.parent_path().filename()) : splits;
}

std::string text_of(const fs::path& name, const std::set<Split>& splits) {
  std::vector<std::string_view> words;
  for (const Split split : splits) words.push_back(name_of(split));
  return fmt::format("{} for {}", name.string(), words.empty() ? "none" : fmt::format("{}", fmt::join(words, " and ")));
}

}  // namespace

TableSplits table_splits(const std::vector<fs::path>& tables, const SourceOptions& options) {
  TableSplits found{.splits = std::vector<Split>(tables.size(), Split::None)};
  std::vector<std::set<Split>> said;
  std::set<Split> all;
  for (const fs::path& table : tables) {
    said.push_back(splits_of(name_below(table, options.root)));
    all.insert(said.back().begin(), said.back().end());
  }
  const bool is_clear = std::ranges::all_of(said, [](const auto& splits) { return splits.size() == 1; });
  if (tables.size() < 2 || all.empty() || (is_clear && all.size() == 1)) return found;
  if (options.split.mode == SplitMode::Random) {
    found.notes.emplace_back(
        "data.split = \"random\": splits are random, although table names contain train, val or test");
  }
  if (!uses_given_splits(options.split) || find_split_lists(options).any()) return found;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < tables.size(); ++i)
    texts.push_back(text_of(name_below(tables[i], options.root), said[i]));
  if (!is_clear) {
    throw DataError(error_text("data.csv", "names of the tables",
                               "one split (train, val or test) in every name, or in none",
                               first_names(texts, texts.size()),
                               "--set data.csv=FILE to read one table, or --set data.split=random for new splits"));
  }
  for (std::size_t i = 0; i < tables.size(); ++i) found.splits[i] = *said[i].begin();
  found.origin = fmt::format("names of the tables: {}", fmt::join(texts, ", "));
  return found;
}

}  // namespace roentgen::data
