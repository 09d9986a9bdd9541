// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/utf8.h"

namespace roentgen {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
  };
  const auto follows = [&byte](std::size_t i, unsigned char low = 0x80, unsigned char high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  if (text.empty()) return 0;
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first == 0xE0) return follows(1, 0xA0) && follows(2) ? 3 : 0;        // excludes overlong encodings
  if (first == 0xED) return follows(1, 0x80, 0x9F) && follows(2) ? 3 : 0;  // excludes surrogates
  if (first >= 0xE1 && first <= 0xEF) return follows(1) && follows(2) ? 3 : 0;
  if (first == 0xF0) return follows(1, 0x90) && follows(2) && follows(3) ? 4 : 0;
  if (first >= 0xF1 && first <= 0xF3) return follows(1) && follows(2) && follows(3) ? 4 : 0;
  // excludes code points above U+10FFFF
  if (first == 0xF4) return follows(1, 0x80, 0x8F) && follows(2) && follows(3) ? 4 : 0;
  return 0;
}

char32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first;
  char32_t code = first & (0xFFU >> (character.size() + 1));  // payload bits of the lead byte
  for (const char c : character.substr(1)) code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  return code;
}

}  // namespace roentgen
