// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/own_arguments.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "core/error.h"
#include "dist/launched.h"

namespace roentgen::cli {

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    arguments.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  RG_ASSERT(!arguments.empty());
  arguments[0] = std::filesystem::read_symlink("/proc/self/exe").string();
  return arguments;
}

std::vector<std::string> command_to_repeat() {
  std::vector<std::string> command = own_arguments();
  command[0] = "roentgen";
  const std::optional<dist::LaunchedRank> launched = dist::launched_rank();
  if (launched && launched->size > 1) {
    command.insert(command.begin(), {"mpirun", "-np", std::to_string(launched->size)});
  }
  return command;
}

}  // namespace roentgen::cli
