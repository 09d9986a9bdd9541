// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Describes nodes for errors (pickle_text() of io/pickle.h).
#include <array>

#include "io/pickle.h"

namespace roentgen::io {

std::string pickle_text(const Pickle& pickle, PickleId id) {
  constexpr std::size_t kShown = 100;
  constexpr std::array kTexts{
      "None",   "a bool", "a number", "a number", "a text",     "bytes",         "a tuple",
      "a list", "a dict", "a set",    "",         "a call of ", "an object of ", "data outside the pickle"};
  const PickleNode& node = pickle[id];
  std::string text = kTexts.at(static_cast<std::size_t>(node.kind));
  if (node.kind == PickleKind::Global) text += node.text.substr(0, kShown);
  if (node.kind == PickleKind::Call || node.kind == PickleKind::Object) {
    const PickleNode& callee = pickle[node.items[0]];
    text += callee.kind == PickleKind::Global ? callee.text.substr(0, kShown) : "a class";
  }
  return text;
}

}  // namespace roentgen::io
