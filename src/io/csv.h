// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads comma-separated values (RFC 4180: quotes, doubled quotes, CR LF, embedded newlines, a UTF-8 byte order mark).
// Reads spreadsheets' variants too: UTF-16 with its byte order mark, semicolons, tabs or bars for commas, a first line
// "sep=;".
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
  /// SHA-256 of the text, hex: of the file's bytes, or of the unpacked ones.
  std::string sha256;

  /// Position of a column, exact match.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

/// Parses text. Fields are separated by commas, semicolons, tabs or bars: the first of these that the header has
/// outside quotes. A first line "sep=;", as Excel writes it, names the separator instead and is no row.
/// Blank lines are skipped. A comma at the end of a line gives an empty last field. A quote inside an unquoted field
/// stands for itself. The apostrophe that csv_field() puts before formulas is removed.
/// Failure, with the line: an empty text, an unclosed quote, text after a closing quote, a zero byte, over 65,536
/// fields in a row. UTF-16 without its byte order mark is named as such. `what` names the text in errors.
Result<Csv> parse_csv(std::string_view text, std::string_view what);
/// Names of the columns, in a text that may end anywhere after them. Failure: as parse_csv(), of the text that was
/// read.
Result<std::vector<std::string>> parse_csv_header(std::string_view text, std::string_view what);
/// Reads and parses a file of at most 1 GiB, which may be gzipped (then at most 1 GiB when unpacked, too).
Result<Csv> read_csv(const std::filesystem::path& path);

}  // namespace roentgen::io
