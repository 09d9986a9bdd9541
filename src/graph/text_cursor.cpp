// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/text_cursor.h"

#include <utility>

namespace roentgen::graph {
namespace {
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}
}  // namespace

void refuse(std::string expected, std::string got) { throw Refusal{std::move(expected), std::move(got)}; }

std::string shown(std::string_view text) {
  if (text.empty()) return "the end of the line";
  constexpr std::size_t kMost = 40;
  std::string out = "'" + std::string(text.substr(0, kMost)) + (text.size() > kMost ? "...'" : "'");
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool Cursor::accept(char c) {
  if (!at(c)) return false;
  take(1);
  return true;
}

void Cursor::expect(char c) {
  if (!accept(c)) refuse(std::string("'") + c + "'", shown(rest_));
}

void Cursor::expect_end() const {
  if (!at_end()) refuse("the end of the line", shown(rest_));
}

std::string_view Cursor::word(std::string_view expected) {
  std::size_t length = 0;
  while (length < rest_.size() && is_word_byte(rest_[length])) ++length;
  if (length == 0) refuse(std::string(expected), shown(rest_));
  return take(length);
}

std::string_view Cursor::value() {
  std::size_t length = 0;
  bool is_list = false;
  for (; length < rest_.size(); ++length) {
    const char c = rest_[length];
    if (c == '[') is_list = true;
    if (c == ']') is_list = false;
    if (!is_list && (c == ',' || c == ')')) break;
  }
  return trimmed(take(length));
}

std::string Cursor::quoted() {
  if (!at('"')) refuse("a name in double quotes", shown(rest_));
  rest_.remove_prefix(1);
  std::string text;
  while (!rest_.empty() && rest_.front() != '"') {
    char c = rest_.front();
    if (c == '\\' && rest_.size() > 1) {
      rest_.remove_prefix(1);
      c = rest_.front() == 'n' ? '\n' : rest_.front();
    }
    text += c;
    rest_.remove_prefix(1);
  }
  expect('"');
  return text;
}

std::string_view Cursor::take(std::size_t length) {
  const std::string_view taken = rest_.substr(0, length);
  rest_.remove_prefix(length);
  while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  return taken;
}

}  // namespace roentgen::graph
