// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/error_parts.h"

#include "core/error.h"
#include "core/short_error.h"

namespace roentgen {
namespace {

/// Splits `rest` at the first `mark`: moves the text before it to `out` and removes the mark. Returns false if there is
/// no mark.
bool take_before(std::string_view& rest, std::string_view mark, std::string& out) {
  const std::size_t at = rest.find(mark);
  if (at == std::string_view::npos) return false;
  out = rest.substr(0, at);
  rest.remove_prefix(at + mark.size());
  return true;
}

std::string text_of(const ErrorParts& parts) {
  if (!parts.expected.empty()) return error_text(parts.thing, parts.what, parts.expected, parts.got, parts.remedy);
  const std::string remedy = parts.remedy.empty() ? "" : "try " + parts.remedy;
  if (!parts.thing.empty()) return short_error_text(parts.thing, parts.what, parts.got, remedy);
  return remedy.empty() ? parts.got : parts.got + "; " + remedy;
}

}  // namespace

ErrorParts error_parts(std::string_view text) {
  ErrorParts parts;
  std::string_view rest = text;
  if (rest.starts_with('[')) rest.remove_prefix(1);
  bool is_known = text.starts_with('[') && take_before(rest, "] ", parts.thing);
  if (is_known && rest.find(": expected ") != std::string_view::npos) {
    is_known = take_before(rest, ": expected ", parts.what) && take_before(rest, ", got ", parts.expected);
  } else {
    is_known = is_known && take_before(rest, ": ", parts.what);
  }
  if (!is_known) {
    parts = {};
    rest = text;
  }
  const std::size_t remedy = rest.rfind("; try ");
  parts.got = rest.substr(0, remedy);
  if (remedy != std::string_view::npos) parts.remedy = rest.substr(remedy + std::string_view("; try ").size());
  return parts;
}

std::string with_remedy(std::string_view text, std::string_view remedy) {
  ErrorParts parts = error_parts(text);
  parts.remedy = remedy;
  return text_of(parts);
}

std::string with_place(std::string_view text, std::string_view place) {
  ErrorParts parts = error_parts(text);
  if (parts.thing.empty()) return std::string(place) + std::string(text);
  parts.what.insert(0, place);
  return text_of(parts);
}

std::string cause_of(std::string_view text) {
  const ErrorParts parts = error_parts(text);
  return parts.expected.empty() ? parts.got : parts.got + ", not " + parts.expected;
}

}  // namespace roentgen
