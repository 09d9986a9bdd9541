// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/foreign_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "core/utf8.h"

namespace roentgen {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct CodeRange {
  char32_t first;
  char32_t last;
};

// Control characters, and invisible characters that change how other characters are displayed.
constexpr std::array kHidden = std::to_array<CodeRange>({{0x00, 0x1F},
                                                         {0x7F, 0x9F},
                                                         {0x061C, 0x061C},
                                                         {0x200B, 0x200F},
                                                         {0x2028, 0x202E},
                                                         {0x2060, 0x206F},
                                                         {0xFEFF, 0xFEFF},
                                                         {0xFFF9, 0xFFFB},
                                                         {0xE0000, 0xE007F}});

bool is_hidden(char32_t code) {
  return std::ranges::any_of(kHidden, [code](CodeRange range) { return range.first <= code && code <= range.last; });
}

// Escape sequence of a character, valid in Python as well: "\n", "\x1b", "\u202e".
std::string escape_of(char32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  const auto number = static_cast<std::uint32_t>(code);
  if (number < 0x80) return fmt::format("\\x{:02x}", number);
  return number < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

// Calls `add` with every character, and `add_byte` with every byte that is not valid UTF-8.
template <typename Add, typename AddByte>
void for_each_character(std::string_view text, const Add& add, const AddByte& add_byte) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      add_byte(static_cast<unsigned char>(text.front()));
    } else {
      add(text.substr(0, length));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

bool is_letter_or_digit(std::string_view text, std::size_t at) {
  if (at >= text.size()) return false;
  const char c = text[at];
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_number(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || (text.front() != '.' && !is_letter_or_digit(text.substr(0, 1), 0))) return false;
  if (text.front() > '9') return false;  // excludes "inf" and "nan"
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// True if a spreadsheet would run the text as a formula. Apostrophes in front of the text are ignored.
bool may_be_formula(std::string_view text) {
  const std::size_t first = text.find_first_not_of('\'');
  if (first == std::string_view::npos) return false;
  return std::string_view("=+-@\t\r\n").find(text[first]) != std::string_view::npos && (first > 0 || !is_number(text));
}

}  // namespace

std::string terminal_text(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for_each_character(
      text,
      [&](std::string_view character) {
        const char32_t code = code_point(character);
        result += is_hidden(code) ? escape_of(code) : std::string(character);
      },
      [&](unsigned char byte) { result += fmt::format("\\x{:02x}", byte); });
  return result;
}

std::string markdown_text(std::string_view text) {
  const std::string line = terminal_text(text);
  std::string result;
  for (std::size_t i = 0; i < line.size(); ++i) {
    switch (line[i]) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '|':
        result += "&#124;";  // some Markdown readers split cells even at an escaped bar
        break;
      case '_':
        // An underscore inside a word is not markup: Pleural_Thickening.
        if (i == 0 || !is_letter_or_digit(line, i - 1) || !is_letter_or_digit(line, i + 1)) result += '\\';
        result += '_';
        break;
      default:
        if (std::string_view("\\`*[]~$").find(line[i]) != std::string_view::npos) result += '\\';
        result += line[i];
    }
  }
  return result;
}

std::string markdown_code(std::string_view text) {
  const std::string line = terminal_text(text);
  const bool is_plain = line.find_first_of("`<&|") == std::string::npos && !line.empty();
  return is_plain ? "`" + line + "`" : "<code>" + markdown_text(line) + "</code>";
}

std::string python_string(std::string_view text) {
  constexpr char32_t kSurrogates = 0xDC00;  // surrogate escapes (PEP 383)
  std::string result = "\"";
  for_each_character(
      text,
      [&](std::string_view character) {
        const char32_t code = code_point(character);
        if (code == '"' || code == '\\') result += '\\';
        result += is_hidden(code) ? escape_of(code) : std::string(character);
      },
      [&](unsigned char byte) { result += escape_of(kSurrogates + byte); });
  return result + "\"";
}

std::string shell_word(std::string_view text) {
  const bool is_plain = std::ranges::all_of(text, [](char c) {
    return is_letter_or_digit(std::string_view(&c, 1), 0) ||
           std::string_view("_-./,:=@%+").find(c) != std::string_view::npos;
  });
  if (is_plain && !text.empty()) return std::string(text);
  const bool is_shown = terminal_text(text) == text;
  std::string word = is_shown ? "'" : "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'') {
      word += is_shown ? "'\\''" : "\\'";
    } else if (!is_shown && c == '\\') {
      word += "\\\\";
    } else if (!is_shown && (byte < 0x20 || byte > 0x7E)) {
      word += fmt::format("\\{:03o}", byte);
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string csv_field(std::string_view text) {
  std::string value = may_be_formula(text) ? "'" : "";
  value += text;
  // True for a text with a byte order mark: a csv reader would remove the mark, or read the file as UTF-16.
  const bool has_mark =
      value.starts_with(kByteOrderMark) || value.starts_with("\xFF\xFE") || value.starts_with("\xFE\xFF");
  if (!has_mark && value.find_first_of(",;\t\"\r\n") == std::string::npos) return value;
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"') quoted.push_back('"');
    quoted.push_back(c);
  }
  quoted.push_back('"');
  return quoted;
}

std::string_view csv_value(std::string_view field) {
  if (field.starts_with('\'') && may_be_formula(field)) field.remove_prefix(1);
  return field;
}

}  // namespace roentgen
