// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/error_parts.h"

#include "core/error.h"

namespace roentgen {
namespace {

/// Splits `rest` at the first `mark`: what stands before it goes into `out`, what follows stays. False without a mark.
bool take_before(std::string_view& rest, std::string_view mark, std::string& out) {
  const std::size_t at = rest.find(mark);
  if (at == std::string_view::npos) return false;
  out = rest.substr(0, at);
  rest.remove_prefix(at + mark.size());
  return true;
}

}  // namespace

ErrorParts error_parts(std::string_view text) {
  ErrorParts parts;
  std::string_view rest = text;
  if (rest.starts_with('[')) rest.remove_prefix(1);
  if (!text.starts_with('[') || !take_before(rest, "] ", parts.thing) ||
      !take_before(rest, ": expected ", parts.what) || !take_before(rest, ", got ", parts.expected)) {
    parts = {};
    rest = text;
  }
  const std::size_t remedy = rest.rfind("; try ");
  parts.got = rest.substr(0, remedy);
  if (remedy != std::string_view::npos) parts.remedy = rest.substr(remedy + std::string_view("; try ").size());
  return parts;
}

std::string with_remedy(std::string_view text, std::string_view remedy) {
  const ErrorParts parts = error_parts(text);
  if (parts.expected.empty()) return parts.got + "; try " + std::string(remedy);
  return error_text(parts.thing, parts.what, parts.expected, parts.got, remedy);
}

std::string with_place(std::string_view text, std::string_view place) {
  const ErrorParts parts = error_parts(text);
  if (parts.expected.empty()) return std::string(place) + std::string(text);
  return error_text(parts.thing, std::string(place) + parts.what, parts.expected, parts.got, parts.remedy);
}

std::string cause_of(std::string_view text) {
  const ErrorParts parts = error_parts(text);
  return parts.expected.empty() ? parts.got : parts.got + ", not " + parts.expected;
}

}  // namespace roentgen
