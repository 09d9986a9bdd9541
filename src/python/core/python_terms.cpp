// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "python/core/python_terms.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace roentgen::python {
namespace {

// Hints at options that Python's functions do not have.
constexpr std::array<std::string_view, 1> kWithout{" (--list FILE selects images)"};

// Options whose Python argument is written differently.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kArguments{
    {{"allow-overlap", "allow_overlap=True"},
     {"set", "the setting"},
     {"data", "data folder"},
     {"resume", "resume=True"},
     {"overwrite", "overwrite=True"},
     {"init", "the setting train.init"},
     {"cache-dir", "the setting train.cache_dir"}}};

bool is_option_letter(char c) { return (c >= 'a' && c <= 'z') || c == '-'; }

std::string argument_of(std::string_view option) {
  for (const auto& [name, argument] : kArguments) {
    if (name == option) return std::string(argument);
  }
  std::string argument(option);
  std::ranges::replace(argument, '-', '_');
  return argument;
}

// Translates one word, such as "--data,", and keeps the characters around the option.
std::string translated(std::string_view word) {
  const std::size_t begin = word.find("--");
  const bool is_option =
      begin != std::string_view::npos && begin + 2 < word.size() && is_option_letter(word[begin + 2]) &&
      std::ranges::none_of(word.substr(0, begin), [](unsigned char c) { return std::isalnum(c) != 0; });
  if (!is_option) return std::string(word);
  const std::string_view rest = word.substr(begin + 2);
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(rest, is_option_letter) - rest.begin());
  return std::string(word.substr(0, begin)) + argument_of(rest.substr(0, end)) + std::string(rest.substr(end));
}

}  // namespace

std::string python_terms(std::string_view whole) {
  std::string known(whole);
  for (const std::string_view hint : kWithout) {
    if (const std::size_t at = known.find(hint); at != std::string::npos) known.erase(at, hint.size());
  }
  std::string_view text = known;
  constexpr std::string_view kRoom = "[cli.";
  std::string result;
  if (text.starts_with(kRoom)) {
    result = "[python.";
    text.remove_prefix(kRoom.size());
  }
  bool is_command = false;  // true inside a command line, up to its first option or its end
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    is_command = is_command || word == "roentgen";
    result += is_command ? std::string(word) : translated(word);
    if (word.starts_with("--") || (!word.empty() && std::ispunct(static_cast<unsigned char>(word.back())) != 0)) {
      is_command = false;
    }
    if (end < text.size()) result += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace roentgen::python
