// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/text_attributes.h"

#include <array>
#include <charconv>
#include <cmath>

#include "graph/text_cursor.h"

namespace roentgen::graph {
namespace {
constexpr std::int64_t kMaxInteger = std::int64_t{1} << 31;

template <typename T>
std::optional<T> converted(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double parse_number(std::string_view text, std::string_view name) {
  const auto value = converted<double>(text);
  if (!value || !std::isfinite(*value)) refuse("a number for " + std::string(name), shown(text));
  return *value;
}

Init parse_init(std::string_view text, std::string_view name) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const bool has_value = colon != std::string_view::npos;
  const std::string_view value = has_value ? text.substr(colon + 1) : std::string_view{};
  if (has_value && kind == "constant") return {Init::Kind::Constant, parse_number(value, name)};
  if (has_value && kind == "normal") return {Init::Kind::Normal, parse_number(value, name)};
  if (!has_value && kind == "he_fan_out") return {Init::Kind::NormalFanOut};
  if (!has_value && kind == "he_fan_in") return {Init::Kind::NormalFanIn};
  if (kind == "uniform_fan_in") {
    return {Init::Kind::UniformFanIn, 0.0, has_value ? parse_integer(value, name, {}) : 0};
  }
  refuse("constant:NUMBER, normal:NUMBER, he_fan_out, he_fan_in or uniform_fan_in for " + std::string(name),
         shown(text));
}

double window_factor(std::int64_t size) { return 1.0 + 2.0 * std::fabs(static_cast<double>(size)); }
}  // namespace

std::int64_t parse_integer(std::string_view text, std::string_view name, const Symbols& symbols) {
  constexpr std::string_view kLetters = "NCSK";
  const std::array values{symbols.batch, symbols.channels, symbols.image_px, symbols.labels};
  const std::size_t letter = text.size() == 1 ? kLetters.find(text.front()) : std::string_view::npos;
  if (letter != std::string_view::npos) {
    if (values[letter] == 0) refuse("a value for " + std::string(text), "none: this command gives it no value");
    return values[letter];
  }
  const auto value = converted<std::int64_t>(text);
  if (!value) refuse("an integer, N, C, S or K for " + std::string(name), shown(text));
  if (*value < -kMaxInteger || *value > kMaxInteger) refuse("at most 2^31 for " + std::string(name), shown(text));
  return *value;
}

void AttributeReader::expect_all_used() const {
  if (given_.empty()) return;
  refuse(known_.empty() ? "no attributes" : "one of the attributes " + known_, shown(given_.begin()->first));
}

void AttributeReader::integer(std::string_view name, std::int64_t& value, std::int64_t) {
  if (const auto text = take(name)) value = parse_integer(*text, name, symbols_);
  work_ *= std::fmax(1.0, std::fabs(static_cast<double>(value)));
}

void AttributeReader::number(std::string_view name, double& value, double) {
  if (const auto text = take(name)) value = parse_number(*text, name);
}

void AttributeReader::flag(std::string_view name, bool& value, bool) {
  const auto text = take(name);
  if (!text) return;
  if (*text != "yes" && *text != "no") refuse("yes or no for " + std::string(name), shown(*text));
  value = *text == "yes";
}

void AttributeReader::extent(std::string_view name, Extent& value, Extent) {
  if (const auto text = take(name)) {
    const std::size_t cross = text->find('x');
    const auto height = converted<std::int32_t>(text->substr(0, cross));
    const auto width = converted<std::int32_t>(cross == std::string_view::npos ? "" : text->substr(cross + 1));
    if (!height || !width) refuse("HEIGHTxWIDTH for " + std::string(name), shown(*text));
    value = {*height, *width};
  }
  work_ *= window_factor(value.height) * window_factor(value.width);
}

void AttributeReader::init(std::string_view name, Init& value, const Init&) {
  if (const auto text = take(name)) value = parse_init(*text, name);
}

void AttributeReader::numbers(std::string_view name, std::vector<double>& value) {
  const auto text = take(name);
  if (!text) return;
  if (text->size() < 2 || text->front() != '[' || text->back() != ']') {
    refuse("[NUMBER, ...] for " + std::string(name), shown(*text));
  }
  std::string_view list = trimmed(text->substr(1, text->size() - 2));
  value.clear();
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    value.push_back(parse_number(trimmed(list.substr(0, comma)), name));
    if (comma == std::string_view::npos) break;
    list = trimmed(list.substr(comma + 1));
    if (list.empty()) refuse("a number after ','", "']'");
  }
}

void AttributeReader::word(std::string_view name, int& value, int, const std::vector<std::string_view>& words) {
  const auto text = take(name);
  if (!text) return;
  std::string known;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == *text) {
      value = static_cast<int>(i);
      return;
    }
    known += (i == 0 ? "" : ", ") + std::string(words[i]);
  }
  refuse("one of " + known + " for " + std::string(name), shown(*text));
}

std::optional<std::string_view> AttributeReader::take(std::string_view name) {
  known_ += (known_.empty() ? "" : ", ") + std::string(name);
  const auto found = given_.find(name);
  if (found == given_.end()) return std::nullopt;
  const std::string_view text = found->second;
  given_.erase(found);
  return text;
}

}  // namespace roentgen::graph
