// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "core/error.h"
#include "core/utf8.h"

namespace roentgen::io {
namespace {
void append_escaped(std::string& out, unsigned char c) {
  constexpr std::string_view kSpecial = "\"\\\b\t\n\f\r", kLetters = "\"\\btnfr";
  if (const std::size_t at = kSpecial.find(static_cast<char>(c)); at != std::string_view::npos) {
    out.append("\\").push_back(kLetters[at]);
    return;
  }
  if (c >= 0x20 && c != 0x7f) {
    out.push_back(static_cast<char>(c));
    return;
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u00";
  out.push_back(kDigits[c >> 4]);
  out.push_back(kDigits[c & 15]);
}

void append_utf8(std::uint32_t point, std::string& out) {
  const auto put = [&out](std::uint32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  const auto follow = [&put, point](std::uint32_t shift) { put(0x80U | ((point >> shift) & 0x3FU)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0U | point >> 6U);
    follow(0);
  } else if (point < 0x10000) {
    put(0xE0U | point >> 12U);
    follow(6);
    follow(0);
  } else {
    put(0xF0U | point >> 18U);
    follow(12);
    follow(6);
    follow(0);
  }
}
}  // namespace

bool is_utf16(std::string_view text) { return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"); }

std::string quote_string(std::string_view text) {
  std::string out = "\"";
  out.reserve(text.size() + 2);
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 1) {
      append_escaped(out, static_cast<unsigned char>(text.front()));
    } else if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out.push_back('"');
  return out;
}

std::string utf8_of(std::string text) {
  if (!is_utf16(text)) return text;
  const bool is_little = text.starts_with('\xFF');
  const auto unit = [&](std::size_t i) -> std::uint32_t {
    const auto first = static_cast<unsigned char>(text[i]), second = static_cast<unsigned char>(text[i + 1]);
    return is_little ? first | static_cast<std::uint32_t>(second) << 8U
                     : static_cast<std::uint32_t>(first) << 8U | second;
  };
  std::string utf8;
  for (std::size_t i = 2; i + 1 < text.size(); i += 2) {
    std::uint32_t point = unit(i);
    if (point >= 0xD800 && point < 0xE000) {
      const std::uint32_t low = i + 3 < text.size() ? unit(i + 2) : 0;
      const bool is_pair = point < 0xDC00 && low >= 0xDC00 && low < 0xE000;
      point = is_pair ? 0x10000 + ((point - 0xD800) << 10U) + (low - 0xDC00) : 0xFFFD;
      if (is_pair) i += 2;
    }
    append_utf8(point, utf8);
  }
  return utf8;
}

std::string shortest(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> digits{};  // the longest has 24: "-2.2250738585072014e-308"
  const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  RG_ASSERT(code == std::errc());
  std::string text(digits.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace roentgen::io
