// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads comma-separated values (RFC 4180: quotes, doubled quotes, CR LF, embedded newlines, a UTF-8 byte order mark).
// Also reads variants that spreadsheets write: UTF-16 with a byte order mark, semicolons, tabs or vertical bars instead
// of commas, and a first line "sep=;".
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roentgen::io {

/// A parsed file: names in the header, and rows.
struct Csv {
  std::vector<std::string> header;
  /// Fields as text. Rows can have different lengths, because some of NIH's files are ragged.
  std::vector<std::vector<std::string>> rows;
  /// Line on which each row starts, counted from 1, for errors.
  std::vector<std::int64_t> lines;
  /// SHA-256 (hex) of the file's bytes; for a gzipped file, of the unpacked bytes.
  std::string sha256;

  /// Index of the column with exactly this name; nullopt if there is none.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

/// Parses text. The separator is the first of comma, semicolon, tab and vertical bar that occurs in the header outside
/// quotes. A first line "sep=;", as Excel writes it, sets the separator instead and is not a row. Blank lines are
/// skipped. A separator at the end of a line means an empty last field. A quote inside an unquoted field is an ordinary
/// character. The apostrophe that csv_field() puts before formulas is removed. Fails, with the line, for empty text, an
/// unclosed quote, text after a closing quote, a zero byte, or over 65,536 fields in a row. UTF-16 without a byte order
/// mark has a separate error text. `what` names the text in errors.
Result<Csv> parse_csv(std::string_view text, std::string_view what);
/// Parses only the column names; the text may end anywhere after them. Fails as parse_csv() does, for errors in the
/// header.
Result<std::vector<std::string>> parse_csv_header(std::string_view text, std::string_view what);
/// Reads and parses a file of at most 1 GiB. It may be gzipped; the unpacked size is also at most 1 GiB.
Result<Csv> read_csv(const std::filesystem::path& path);

}  // namespace roentgen::io
