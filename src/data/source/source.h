// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Interface of a dataset source (a line of source_list.h), and helpers that sources share. For src/data/source only;
// other code includes dataset.h.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "data/source/dataset.h"
#include "data/source/source_list.h"
#include "data/source/table_fields.h"
#include "data/source/table_files.h"
#include "io/csv.h"

namespace roentgen::data {

/// Result of listing a source: every sample with its labels; splits only where the table has a column for them.
struct Listing {
  std::vector<std::string> label_names{};
  std::vector<Sample> samples{};
  std::vector<std::filesystem::path> csv{};
  std::vector<std::string> csv_sha256{};
  std::vector<std::string> notes{};
  /// Value of Dataset::left_out_images.
  std::int64_t left_out_images = 0;
  /// Origin of the splits in the tables, for people ("column split of labels.csv"); empty: the tables have none.
  std::string given_splits{};
  /// Names of two samples that are one file by a hard or symbolic link, where the source looks for such files.
  std::vector<std::pair<std::string, std::string>> linked{};

  /// Appends to `notes`.
  void add_notes(std::vector<std::string> lines);
};

#define RG_DECLARE_SOURCE(name, what)                                                \
  [[nodiscard]] bool probe_##name(const SourceOptions& options, TableFiles& tables); \
  [[nodiscard]] Listing list_##name(const SourceOptions& options, TableFiles& tables);
RG_SOURCES(RG_DECLARE_SOURCE)
#undef RG_DECLARE_SOURCE

/// `path` below the root unless it is absolute.
[[nodiscard]] std::filesystem::path below_root(const SourceOptions& options, const std::filesystem::path& path);

/// Tables of data.csv, below the root unless they are absolute; none: the source looks for its own.
[[nodiscard]] std::vector<std::filesystem::path> named_tables(const SourceOptions& options);

/// Header of a csv as it stands there, without reading the rest. Failure: no csv, or unreadable.
[[nodiscard]] Result<std::vector<std::string>> read_csv_header(const std::filesystem::path& path);

/// Reads the tables of Listing::csv and notes their hashes; DataError of `thing` when one is unreadable, empty, or has
/// a header only.
[[nodiscard]] TableRefs read_tables(Listing& listing, std::string_view thing, TableFiles& tables);

/// `path` when it is a file, else `path`.gz when that is one.
[[nodiscard]] std::optional<std::filesystem::path> plain_or_gzipped(const std::filesystem::path& path);

/// Throws DataError of `thing` at `where`, for a row that a published table never has.
[[noreturn]] void refuse_row(std::string_view thing, std::string_view where, std::string_view expected,
                             std::string_view got);

/// Calls `take` with each row of the table `what` and its place, "labels.csv line 3". DataError of `thing` when a row
/// has more or fewer fields than the header.
template <typename Take>
void for_each_row(const io::Csv& table, std::string_view what, std::string_view thing, Take take) {
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::size_t fields = table.rows[i].size(), wanted = table.header.size();
    const std::string where = fmt::format("{} line {}", what, table.lines[i]);
    if (fields != wanted) refuse_row(thing, where, fmt::format("{} fields", wanted), fmt::format("{}", fields));
    take(table.rows[i], where);
  }
}

/// Makes label `k` unknown of every sample.
void mask_label(Listing& listing, std::size_t k);

/// Refuses or notes rows whose images are absent; `rows` is the number of rows. DataError when refused or when nothing
/// is left.
void settle_absent(const std::vector<std::string>& absent, std::int64_t rows, const SourceOptions& options,
                   Listing& listing);

/// Rows or records whose image came before.
struct Repeats {
  std::vector<std::string> names{};          ///< names of the images, or places of the rows
  std::vector<std::string> contradicting{};  ///< names whose labels contradict the first row's

  void add(const std::string& name, bool contradicts);  ///< counts one
};

/// True where some label is positive in one row and negative in the other.
[[nodiscard]] bool are_contradictory(const std::vector<float>& labels, const std::vector<float>& others);

/// Refuses or notes images that came twice in the tables.
void settle_repeated(const Repeats& repeats, const SourceOptions& options, Listing& listing);

}  // namespace roentgen::data
