// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/processor.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

namespace roentgen::engine::cpu {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::array<std::string_view, 9> kKeys{"vendor_id",   "cpu family", "model",
                                                "stepping",    "model name", "CPU implementer",
                                                "CPU variant", "CPU part",   "CPU revision"};
// Of level 1 all processors of a family have the same.
constexpr std::array<std::string_view, 2> kLevels{"2", "3"};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// Appends another part; blanks within it become "_".
void add(std::string& word, std::string_view part) {
  if (part.empty()) return;
  if (!word.empty()) word += '-';
  for (const char c : part) word += kBlanks.find(c) == std::string_view::npos ? c : '_';
}

std::map<std::string, std::string> first_processor(std::string_view cpuinfo) {
  std::map<std::string, std::string> values;
  std::istringstream lines{std::string(cpuinfo)};
  for (std::string line; std::getline(lines, line);) {
    if (trimmed(line).empty()) {
      if (values.empty()) continue;
      break;  // the next one's begin
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    values.emplace(trimmed(std::string_view(line).substr(0, colon)), trimmed(std::string_view(line).substr(colon + 1)));
  }
  return values;
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  return text.str();
}

}  // namespace

std::string processor_word(std::string_view cpuinfo, std::span<const CacheText> caches) {
  std::string word;
  const std::map<std::string, std::string> values = first_processor(cpuinfo);
  for (const std::string_view key : kKeys) {
    if (const auto found = values.find(std::string(key)); found != values.end()) add(word, found->second);
  }
  for (const std::string_view level : kLevels) {
    for (const CacheText& cache : caches) {
      if (trimmed(cache.level) != level || trimmed(cache.type) == "Instruction" || trimmed(cache.size).empty())
        continue;
      add(word, "L" + std::string(level) + "_" + std::string(trimmed(cache.size)));
      break;
    }
  }
  return word.empty() ? "unknown" : word;
}

std::string this_processor(const fs::path& cpuinfo, const fs::path& caches) {
  std::vector<CacheText> found;
  constexpr int kMostCaches = 16;
  for (int index = 0; index < kMostCaches; ++index) {
    const fs::path folder = caches / ("index" + std::to_string(index));
    CacheText cache{
        .level = text_of(folder / "level"), .type = text_of(folder / "type"), .size = text_of(folder / "size")};
    if (!cache.level.empty()) found.push_back(std::move(cache));
  }
  return processor_word(text_of(cpuinfo), found);
}

}  // namespace roentgen::engine::cpu
