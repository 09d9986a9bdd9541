// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/switch_values.h"

namespace roentgen::cli {

std::vector<std::string> with_switch_values(std::vector<std::string> words, const std::vector<Option>& options) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_alone = i + 1 == words.size() || words[i + 1].starts_with('-');
    for (const Option& option : options) {
      if (!option.is_switch) continue;
      if (words[i] == "--no" + option.name.substr(2)) {
        words[i] = option.name + "=false";
      } else if (words[i] == option.name && is_alone) {
        words[i] = option.name + "=true";
      }
    }
  }
  return words;
}

}  // namespace roentgen::cli
