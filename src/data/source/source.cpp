// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/source.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/lower_case.h"
#include "core/utf8.h"
#include "data/source/set_option.h"
#include "io/gzip.h"

namespace roentgen::data {

std::filesystem::path below_root(const SourceOptions& options, const std::filesystem::path& path) {
  return path.is_absolute() ? path : options.root / path;
}

std::vector<std::filesystem::path> named_tables(const SourceOptions& options) {
  std::vector<std::filesystem::path> paths;
  for (const auto& path : options.csv) paths.push_back(below_root(options, path));
  return paths;
}

void Listing::add_notes(std::vector<std::string> lines) { std::ranges::move(lines, std::back_inserter(notes)); }

Result<std::vector<std::string>> read_csv_header(const std::filesystem::path& path) {
  const std::string what = path.filename().string();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return failure("data.csv", what, "a file", "no such file", "another data.csv");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(std::size_t{1} << 16, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (io::is_gzip(text)) text = io::gunzip_head(text, text.size());
  return io::parse_csv_header(text, what);
}

TableRefs read_tables(Listing& listing, std::string_view thing, TableFiles& tables) {
  TableRefs read;
  for (const auto& path : listing.csv) {
    const io::Csv& table = read.emplace_back(tables.table(path));
    if (table.rows.empty()) {
      throw DataError(error_text(thing, path.string(), "a row for each image", "only a header",
                                 "--set data.csv=FILE with a table that has rows"));
    }
    listing.csv_sha256.push_back(table.sha256);
  }
  return read;
}

std::optional<std::filesystem::path> plain_or_gzipped(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return path;
  std::filesystem::path packed = path;
  packed += ".gz";
  if (std::filesystem::is_regular_file(packed, ignored)) return packed;
  return std::nullopt;
}

void refuse_row(std::string_view thing, std::string_view where, std::string_view expected, std::string_view got) {
  throw DataError(error_text(thing, where, expected, got, "the original table of the data set"));
}

void mask_label(Listing& listing, std::size_t k) {
  for (Sample& sample : listing.samples) sample.labels.at(k) = std::numeric_limits<float>::quiet_NaN();
}

namespace {

/// Returns a file name in lower case, with "?" for each accented Latin letter, whether it is one character or a letter
/// and a combining accent (U+0300 to U+036F).
std::string loose_name(std::string_view name) {
  std::string key;
  while (!name.empty()) {
    const std::string_view character = name.substr(0, std::max<std::size_t>(utf8_length(name), 1));
    name.remove_prefix(character.size());
    if (character.size() != 2) {
      key += character;
    } else if (character >= "\xCC\x80" && character <= "\xCD\xAF") {
      if (!key.empty()) key.back() = '?';
    } else if (character >= "\xC3\x80" && character < "\xC9\x90") {
      key += '?';
    } else {
      key += character;
    }
  }
  return lower_case(key);
}

/// True if the folder of the image contains a file with nearly its name.
bool has_similar_file(const std::filesystem::path& image) {
  std::error_code ignored;
  const std::string key = loose_name(image.filename().string());
  return std::ranges::any_of(std::filesystem::directory_iterator(image.parent_path(), ignored),
                             [&](const auto& entry) { return loose_name(entry.path().filename().string()) == key; });
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// Remedy for images of a table that are not found.
std::string absent_remedy(const std::vector<std::string>& absent, const SourceOptions& options,
                          const Listing& listing) {
  if (!std::ranges::all_of(absent, is_utf8)) return "saving the table as UTF-8 csv";
  const auto folder = listing.csv.empty() ? options.root : listing.csv.front().parent_path();
  if (has_similar_file(folder / absent.front()) || has_similar_file(options.root / absent.front())) {
    return "writing names exactly as the files have them: a similar file exists, but upper and lower case, accents and "
           "their Unicode form must match";
  }
  return listing.samples.empty() ? "another --data, or writing paths relative to the table"
                                 : "--set data.absent=skip to ignore the missing images";
}

}  // namespace

void settle_absent(const std::vector<std::string>& absent, std::int64_t rows, const SourceOptions& options,
                   Listing& listing) {
  if (absent.empty()) return;
  const std::string where = listing.csv.empty() ? options.root.string() : listing.csv.front().filename().string();
  const std::string got = fmt::format("{} of {}", absent.size(), rows);
  if (options.absent == Absent::Refuse || listing.samples.empty()) {
    throw DataError(
        error_text("data.source", where, "every image of the table or list in the folder " + options.root.string(),
                   fmt::format("{} missing ({})", got, first_names(absent)), absent_remedy(absent, options, listing)));
  }
  listing.notes.push_back(fmt::format("missing images, skipped: {}", got));
}

void Repeats::add(const std::string& name, bool contradicts) {
  names.push_back(name);
  if (contradicts) contradicting.push_back(name);
}

bool are_contradictory(const std::vector<float>& labels, const std::vector<float>& others) {
  return !std::ranges::equal(labels, others, [](float a, float b) { return a == b || std::isnan(a) || std::isnan(b); });
}

void settle_repeated(const Repeats& repeats, const SourceOptions& options, Listing& listing) {
  if (repeats.names.empty()) return;
  const std::size_t contradicting = repeats.contradicting.size();
  if (options.duplicates == Duplicates::First) {
    listing.notes.push_back(fmt::format("repeated rows, the first is kept: {}", repeats.names.size()));
    if (contradicting > 0) {
      listing.notes.back() += fmt::format("; labels of {} of them contradict the first row's", contradicting);
    }
    return;
  }
  std::vector<std::string> tables;
  for (const auto& path : listing.csv) tables.push_back(path.filename().string());
  const bool are_several = tables.size() > 1;
  std::string got = fmt::format("{} repeated ({})", repeats.names.size(), first_names(repeats.names));
  std::string remedy = "--set data.duplicates=first to keep the first row of each";
  if (contradicting > 0) {
    got += fmt::format(", {} with labels that contradict the first row's ({})", contradicting,
                       first_names(repeats.contradicting));
    remedy = "correcting these rows, or " + remedy;
  }
  if (are_several) remedy = set_option("data.csv", tables.front()) + " to read one table alone, or " + remedy;
  throw DataError(error_text(
      "data.source", tables.empty() ? "lists" : first_names(tables) + (are_several ? ", read as one table" : ""),
      "one row for each image", got, remedy));
}

}  // namespace roentgen::data
