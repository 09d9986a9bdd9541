// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Interface of a dataset reader (a line of source_list.h), and helpers that readers share. For src/data/source only;
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

/// Result of a dataset reader: every sample with its labels. Splits are set only if the table states them.
struct Listing {
  std::vector<std::string> label_names{};
  std::vector<Sample> samples{};
  std::vector<std::filesystem::path> csv{};
  std::vector<std::string> csv_sha256{};
  std::vector<std::string> notes{};
  /// Becomes Dataset::left_out_images.
  std::int64_t left_out_images = 0;
  /// Origin of the splits that the tables state, for messages ("column split of labels.csv"); empty if they state none.
  std::string given_splits{};
  /// Pairs of sample names that are the same file through a hard or symbolic link. Filled only by readers that check
  /// this.
  std::vector<std::pair<std::string, std::string>> linked{};

  /// Appends lines to `notes`.
  void add_notes(std::vector<std::string> lines);
};

#define RG_DECLARE_SOURCE(name, what)                                                \
  [[nodiscard]] bool probe_##name(const SourceOptions& options, TableFiles& tables); \
  [[nodiscard]] Listing list_##name(const SourceOptions& options, TableFiles& tables);
RG_SOURCES(RG_DECLARE_SOURCE)
#undef RG_DECLARE_SOURCE

/// Returns root / `path`, or `path` itself if it is absolute.
[[nodiscard]] std::filesystem::path below_root(const SourceOptions& options, const std::filesystem::path& path);

/// Paths of the tables in data.csv, relative to the root unless absolute. Empty if the reader must find its tables.
[[nodiscard]] std::vector<std::filesystem::path> named_tables(const SourceOptions& options);

/// Reads only the header of a csv, unchanged. Fails if the file is no csv or cannot be read.
[[nodiscard]] Result<std::vector<std::string>> read_csv_header(const std::filesystem::path& path);

/// Reads the tables in Listing::csv and stores their hashes. Throws DataError, with `thing` as its topic, if a table
/// cannot be read, is empty, or has only a header.
[[nodiscard]] TableRefs read_tables(Listing& listing, std::string_view thing, TableFiles& tables);

/// Returns `path` if it is a file, else `path`.gz if that is a file, else nullopt.
[[nodiscard]] std::optional<std::filesystem::path> plain_or_gzipped(const std::filesystem::path& path);

/// Throws DataError, with `thing` as its topic, for a row at position `where` that cannot occur in the published table.
[[noreturn]] void refuse_row(std::string_view thing, std::string_view where, std::string_view expected,
                             std::string_view got);

/// Calls `take` with each row of the table `what` and its position, such as "labels.csv line 3". Throws DataError, with
/// `thing` as its topic, if the number of fields differs from the header's.
template <typename Take>
void for_each_row(const io::Csv& table, std::string_view what, std::string_view thing, Take take) {
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::size_t fields = table.rows[i].size(), wanted = table.header.size();
    const std::string where = fmt::format("{} line {}", what, table.lines[i]);
    if (fields != wanted) refuse_row(thing, where, fmt::format("{} fields", wanted), fmt::format("{}", fields));
    take(table.rows[i], where);
  }
}

/// Makes label `k` unknown for all samples.
void mask_label(Listing& listing, std::size_t k);

/// Adds a note or throws DataError if images of rows are absent, depending on the options; `rows` is the number of
/// rows. Always throws if no image is left.
void settle_absent(const std::vector<std::string>& absent, std::int64_t rows, const SourceOptions& options,
                   Listing& listing);

/// Rows or records whose image was already added.
struct Repeats {
  std::vector<std::string> names{};          ///< names of the images, or positions of the rows
  std::vector<std::string> contradicting{};  ///< names whose labels contradict those of the first row

  void add(const std::string& name, bool contradicts);  ///< counts one repetition
};

/// True if a label is positive in one row and negative in the other.
[[nodiscard]] bool are_contradictory(const std::vector<float>& labels, const std::vector<float>& others);

/// Adds a note or throws DataError if images occur repeatedly in the tables, depending on the options.
void settle_repeated(const Repeats& repeats, const SourceOptions& options, Listing& listing);

}  // namespace roentgen::data
