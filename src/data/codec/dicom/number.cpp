// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <dcmtk/dcmdata/dcelem.h>

#include "io/text.h"

namespace roentgen::data {
namespace {

constexpr std::string_view kBlanks("\0 \t\r\n", 5);

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

std::optional<double> parse_decimal(std::string_view text) {
  text = trimmed(text);
  if (text.find_first_not_of("0123456789.+-eE") != std::string_view::npos)
    return std::nullopt;  // from_chars also parses "inf"
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<std::string> values_of(DcmItem& item, const DcmTagKey& tag) {
  DcmElement* element = nullptr;
  if (item.findAndGetElement(tag, element).bad() || element == nullptr || element->getLength() == 0) return {};
  std::vector<std::string> values;
  const auto is_text = [](const std::string& value) { return !value.empty(); };
  char* text = nullptr;
  Uint32 length = 0;
  if (element->getString(text, length).good()) {
    std::string_view rest = text == nullptr ? std::string_view() : std::string_view(text, length);
    while (true) {
      const std::size_t end = rest.find('\\');
      values.emplace_back(trimmed(rest.substr(0, end)));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
  } else {
    for (unsigned long i = 0; i < element->getVM(); ++i) {
      OFString value;
      if (element->getOFString(value, i).bad()) break;
      values.emplace_back(value.c_str(), value.size());
    }
  }
  if (std::ranges::none_of(values, is_text)) return {};
  return values;
}

std::string quoted_value(std::string_view text) {
  constexpr std::size_t kLongest = 32;
  return io::quote_string(text.substr(0, kLongest)) + (text.size() > kLongest ? "..." : "");
}

}  // namespace roentgen::data
