// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/error.h"

namespace roentgen {

std::string error_text(std::string_view thing, std::string_view what, std::string_view expected, std::string_view got,
                       std::string_view remedy) {
  std::string text;
  text.reserve(thing.size() + what.size() + expected.size() + got.size() + remedy.size() + 32);
  text.append("[").append(thing).append("] ").append(what);
  text.append(": expected ").append(expected).append(", got ").append(got);
  if (!remedy.empty()) text.append("; try ").append(remedy);
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

void assertion_failed(const char* condition, std::source_location where) {
  throw std::logic_error(std::string("internal error: ") + condition + " does not hold at " + where.file_name() + ":" +
                         std::to_string(where.line()));
}

}  // namespace roentgen
