// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/short_error.h"

#include <algorithm>

namespace roentgen {

std::string short_error_text(std::string_view thing, std::string_view what, std::string_view problem,
                             std::string_view remedy) {
  std::string text;
  text.append("[").append(thing).append("] ").append(what).append(": ").append(problem);
  if (!remedy.empty()) text.append("; ").append(remedy);
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace roentgen
