// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Comma-separated values (RFC 4180: quotes, doubled quotes, CR LF, embedded newlines, a UTF-8 byte order mark), and
// what spreadsheets write instead: UTF-16 with its byte order mark, semicolons, tabs or bars for commas, a first
// line "sep=;".
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roentgen::io {

/// A parsed file: the header's names and the rows below it.
struct Csv {
  std::vector<std::string> header;
  /// Fields as text. Rows keep their own length: NIH's files have ragged ones.
  std::vector<std::vector<std::string>> rows;
  /// 1-based line on which each row starts, for errors.
  std::vector<std::int64_t> lines;
  /// SHA-256 of the text, hex: of the file's bytes, or of what they unpack to.
  std::string sha256;

  /// Position of a column, exact match.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

/// Parses text, whose fields are parted by commas, or by semicolons, tabs or bars, the first of these that the header
/// has outside of quotes. A first line "sep=;", as Excel writes it, says the separator instead and is no row. A Failure
/// carries the line: an empty text, an unclosed quote, text after a closing quote, a zero byte (UTF-16 without its byte
/// order mark is named), over 65,536 fields in a row. Blank lines are skipped; a comma at the end of a line gives an
/// empty last field; a quote inside an unquoted field stands for itself; the apostrophe that csv_field() puts before
/// what looks like a formula is taken away. `what` names the text in errors.
Result<Csv> parse_csv(std::string_view text, std::string_view what);
/// Names of the columns, of a text that may end anywhere behind them. Failure: as parse_csv(), of what was read.
Result<std::vector<std::string>> parse_csv_header(std::string_view text, std::string_view what);
/// Reads and parses a file of at most 1 GiB, which may be gzipped (then at most 1 GiB when unpacked, too).
Result<Csv> read_csv(const std::filesystem::path& path);

}  // namespace roentgen::io
