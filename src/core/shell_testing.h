// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests: the words that a shell takes from a line.
#pragma once

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/folder_testing.h"

namespace roentgen {

/// Returns the words that a program gets when `shell` ("sh" or "bash") runs `line`. Text after a ; or in $(...) would
/// be executed. Throws std::runtime_error if the shell does not start.
inline std::vector<std::string> words_of(std::string_view shell, std::string_view line) {
  const TemporaryFolder folder;
  const std::string script = (folder.path() / "script").string();
  std::ofstream(script, std::ios::binary) << "printf '%s\\0' " << line << "\n";
  std::FILE* const pipe = ::popen((std::string(shell) + " '" + script + "' 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no shell");
  std::vector<std::string> words(1);
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    if (c == 0) {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(c);
    }
  }
  ::pclose(pipe);
  if (words.back().empty()) words.pop_back();
  return words;
}

}  // namespace roentgen
