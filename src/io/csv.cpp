// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/csv.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/foreign_text.h"
#include "io/file.h"
#include "io/gzip.h"
#include "io/sha256.h"
#include "io/text.h"

namespace roentgen::io {
namespace {
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// Limits on file size and columns. The column limit is far above any data set, because a file of commas only would take
// 32 times its size in memory.
constexpr std::uint64_t kLimitBytes = std::uint64_t{1} << 30;
constexpr std::size_t kLimitFields = 65536;

/// Field separator: the first comma, semicolon, tab or vertical bar outside quotes in the first line; a comma if there
/// is none.
char separator_of(std::string_view text) {
  constexpr std::string_view kSeparators = ",;\t|";
  std::size_t best = kSeparators.size();
  bool is_quoted = false, is_closed = false, is_start = true;  // state of the current field
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  for (const char c : text) {
    if (c == '"' && (is_quoted || is_closed || is_start)) {  // two quotes inside a quoted field mean one
      is_closed = is_quoted;
      is_quoted = !is_quoted;
      is_start = false;
    }
    if (is_quoted || c == '"') continue;
    if (c == '\n' || c == '\r') break;
    const std::size_t place = std::min(kSeparators.find(c), kSeparators.size());
    best = std::min(best, place);
    is_start = place < kSeparators.size();
    is_closed = false;
  }
  return best < kSeparators.size() ? kSeparators[best] : ',';
}

/// True for text in UTF-16 without a byte order mark. In Latin text every second byte is then zero.
bool looks_like_utf16(std::string_view text) {
  constexpr std::size_t kSample_bytes = 512;
  const std::string_view head = text.substr(0, std::min(text.size(), kSample_bytes));
  std::array<std::size_t, 2> zeros{};
  for (std::size_t i = 0; i < head.size(); ++i) zeros.at(i % 2) += head[i] == '\0' ? 1U : 0U;
  const auto [few, many] = std::minmax(zeros[0], zeros[1]);
  return few == 0 && many > 0 && many >= head.size() / 4;
}

/// Returns "UTF-16 without its byte order mark" or "a zero byte" if the bytes are no text, else an empty string.
std::string_view not_text(std::string_view text) {
  if (text.find('\0') == std::string_view::npos) return {};
  return looks_like_utf16(text) ? "UTF-16 without its byte order mark" : "a zero byte";
}

/// Removes a first line "sep=;" from the text and returns its separator; nullopt if there is none.
std::optional<char> take_declared_separator(std::string_view& text) {
  constexpr std::string_view kName = "sep=";
  std::string_view line = text.substr(0, text.find_first_of("\r\n"));
  const std::size_t length = line.size();
  if (line.size() == kName.size() + 3 && line.starts_with('"') && line.ends_with('"')) {
    line = line.substr(1, line.size() - 2);
  }
  if (line.size() != kName.size() + 1) return std::nullopt;
  const char separator = line.back();
  const auto is_same = [](char wanted, char c) { return std::tolower(static_cast<unsigned char>(c)) == wanted; };
  if (!std::equal(kName.begin(), kName.end(), line.begin(), is_same) || separator == '"' ||
      std::isalnum(static_cast<unsigned char>(separator)) != 0) {
    return std::nullopt;
  }
  text.remove_prefix(length);
  return separator;
}

/// Reads one record after another. The text must outlive it.
class Scanner {
 public:
  Scanner(std::string_view text, std::string_view what) : text_(text), what_(what) {
    const auto declared = take_declared_separator(text_);
    separator_ = declared ? *declared : separator_of(text_);
    ends_ = std::string("\r\n") + separator_;
  }

  [[nodiscard]] bool at_end() const { return position_ == text_.size(); }
  [[nodiscard]] std::int64_t line() const { return line_; }
  /// Text read so far.
  [[nodiscard]] std::string_view taken() const { return text_.substr(0, position_); }
  /// Skips an empty line. Returns false if the line is not empty.
  bool skip_blank_line() { return !at_end() && take_line_end(); }

  Result<std::vector<std::string>> record() {
    std::vector<std::string> fields;
    for (;;) {
      if (fields.size() == kLimitFields) return bad("at most 65536 fields in a row", "more");
      Result<std::string> next = field();
      if (!next) return next.why();
      fields.emplace_back(csv_value(next.value()));
      if (at_end() || take_line_end()) return fields;
      if (text_[position_] != separator_) return bad("a comma after a closing quote", quoted_character());
      ++position_;
    }
  }

 private:
  [[nodiscard]] Failure bad(std::string_view expected, std::string_view got) const {
    return failure("io.csv", std::string(what_) + ", line " + std::to_string(line_), expected, got,
                   "correcting that line, or saving the table anew as csv");
  }
  [[nodiscard]] std::string quoted_character() const { return "'" + std::string(1, text_[position_]) + "'"; }

  bool take_line_end() {
    const char c = text_[position_];
    if (c != '\n' && c != '\r') return false;
    ++position_;
    if (c == '\r' && !at_end() && text_[position_] == '\n') ++position_;
    ++line_;
    return true;
  }

  Result<std::string> field() {
    if (at_end()) return std::string();
    if (text_[position_] == '"') return quoted_field();
    const std::size_t end = std::min(text_.find_first_of(ends_, position_), text_.size());
    std::string value(text_.substr(position_, end - position_));
    position_ = end;
    return value;
  }

  Result<std::string> quoted_field() {
    const std::int64_t start_line = line_;
    std::string value;
    for (++position_; !at_end(); ++position_) {
      const char c = text_[position_];
      if (c == '"') {
        if (text_.substr(position_, 2) != "\"\"") {
          ++position_;
          return value;
        }
        ++position_;
      }
      // Inside quotes, CR LF counts as one line end, like a single CR or LF.
      if (c == '\n' || (c == '\r' && text_.substr(position_, 2) != "\r\n")) ++line_;
      value.push_back(c);
    }
    line_ = start_line;
    return bad("a closing quote", "the end of the file");
  }

  std::string_view text_;
  std::string_view what_;
  char separator_ = ',';
  /// Characters that end an unquoted field.
  std::string ends_;
  std::size_t position_ = 0;
  std::int64_t line_ = 1;
};

Failure no_text(std::string_view what, std::string_view got) {
  return failure("io.csv", what, "text in UTF-8", got, "saving it as UTF-8 csv");
}

Failure no_header(std::string_view what) {
  return failure("io.csv", what, "a header line", "an empty file", "a csv whose first line names its columns");
}

}  // namespace

std::optional<std::size_t> Csv::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

Result<std::vector<std::string>> parse_csv_header(std::string_view bytes, std::string_view what) {
  const std::string utf8 = is_utf16(bytes) ? utf8_of(std::string(bytes)) : std::string();
  std::string_view text = is_utf16(bytes) ? std::string_view(utf8) : bytes;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Scanner scanner(text, what);
  while (scanner.skip_blank_line()) continue;
  if (scanner.at_end()) return no_header(what);
  auto header = scanner.record();
  const std::string_view other = not_text(scanner.taken());
  if (!other.empty()) return no_text(what, other);
  return header;
}

Result<Csv> parse_csv(std::string_view bytes, std::string_view what) {
  Csv csv;
  csv.sha256 = sha256_hex(bytes);
  if (is_utf16(bytes) && bytes.size() % 2 != 0) {
    return failure("io.csv", what, "text in UTF-16", "half a character at its end", "fetching the file again");
  }
  const std::string utf8 = is_utf16(bytes) ? utf8_of(std::string(bytes)) : std::string();
  std::string_view text = is_utf16(bytes) ? std::string_view(utf8) : bytes;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const std::string_view other = not_text(text); !other.empty()) return no_text(what, other);
  Scanner scanner(text, what);
  bool has_header = false;
  while (!scanner.at_end()) {
    if (scanner.skip_blank_line()) continue;
    const std::int64_t line = scanner.line();
    Result<std::vector<std::string>> record = scanner.record();
    if (!record) return record.why();
    if (!has_header) {
      csv.header = std::move(record).value();
      has_header = true;
    } else {
      csv.rows.push_back(std::move(record).value());
      csv.lines.push_back(line);
    }
  }
  if (!has_header) return no_header(what);
  return csv;
}

Result<Csv> read_csv(const std::filesystem::path& path) {
  Result<std::string> text = read_text(path, kLimitBytes);
  if (text.ok() && is_gzip(text.value())) text = gunzip(text.value(), kLimitBytes, path.string());
  if (!text) return text.why();
  return parse_csv(text.value(), path.string());
}

}  // namespace roentgen::io
