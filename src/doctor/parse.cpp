// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "doctor/parse.h"

#include <algorithm>
#include <charconv>

#include "doctor/inventory.h"

namespace roentgen::doctor {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    if (end == text.size()) return parts;
    begin = end + 1;
  }
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  std::erase_if(lines, [](std::string_view line) { return trimmed(line).empty(); });
  return lines;
}

std::optional<double> number_in(std::string_view text) {
  text = trimmed(text);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::uint64_t hex_in(std::string_view text) {
  const std::string digits = without_hex_mark(trimmed(text));
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

std::string without_hex_mark(std::string_view text) {
  return std::string(text.starts_with("0x") ? text.substr(2) : text);
}

std::string entry_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : lines_of(text)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key) {
      return std::string(trimmed(line.substr(colon + 1)));
    }
  }
  return {};
}

std::string text_after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + mark.size());
  return std::string(trimmed(rest.substr(0, rest.find('\n'))));
}

std::string without_escapes(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      result += text[i];
    } else {
      i = std::min(text.find('m', i), text.size());
    }
  }
  return result;
}

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  constexpr double kMost = 1 << 16;
  for (const std::string_view part : split(text, ',')) {
    const auto ends = split(part, '-');
    const auto low = number_in(ends.front());
    const auto high = number_in(ends.back());
    if (!low || !high || *low < 0 || *high > kMost) return {};
    for (int cpu = static_cast<int>(*low); cpu <= static_cast<int>(*high); ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<Gpu> parse_gpus(std::string_view text) {
  constexpr std::size_t kFields = 17;
  const auto whole = [](std::string_view word) {
    const auto number = number_in(word);
    return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
  };
  std::vector<Gpu> gpus;
  for (const std::string_view line : lines_of(text)) {
    std::vector<std::string_view> words = split(line, ',');
    if (words.size() != kFields) continue;
    for (std::string_view& word : words) word = trimmed(word);
    Gpu gpu{.index = static_cast<int>(number_in(words[0]).value_or(0.0)),
            .name = std::string(words[1]),
            .bus = std::string(words[2]),
            .driver = std::string(words[3]),
            .compute_mode = std::string(words[5]),
            .ecc_errors = whole(words[6]),
            .power_limit_w = number_in(words[7]),
            .default_power_limit_w = number_in(words[8]),
            .clock_mhz = number_in(words[9]),
            .max_clock_mhz = number_in(words[10]),
            .throttle_reasons = static_cast<std::int64_t>(hex_in(words[11])),
            .link_generation = whole(words[12]),
            .max_link_generation = whole(words[13]),
            .link_lanes = whole(words[14]),
            .max_link_lanes = whole(words[15]),
            .temperature_c = whole(words[16])};
    if (words[4] == "Enabled" || words[4] == "Disabled") gpu.is_persistent = words[4] == "Enabled";
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace roentgen::doctor
