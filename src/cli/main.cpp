// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The program: finds the command, runs it, turns errors into one line and an exit code.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "cli/arguments.h"
#include "cli/command_list.h"
#include "core/error.h"
#include "io/file.h"
#include "io/json.h"

namespace {

using namespace roentgen;

int run(int argc, char** argv) {
  std::vector<std::unique_ptr<cli::Command>> commands;
#define RG_COMMAND_ENTRY(name) commands.push_back(cli::make_##name##_command());
  RG_COMMAND_LIST(RG_COMMAND_ENTRY)
#undef RG_COMMAND_ENTRY
  const cli::Parsed parsed = cli::parse_arguments(argc, argv, commands);
  fmt::print("{}", parsed.text);
  if (parsed.command == nullptr) return cli::kSuccess;
  const cli::CommandResult result = parsed.command->run();
  if (!parsed.json.empty()) io::write_file_atomically(parsed.json, io::to_json(result.json) + "\n");
  return result.exit_code;
}

// Whatever happens inside, people get one line.
int report(std::string text, int code) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", text);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const ConfigError& error) {
    return report(error.what(), cli::kBadInput);
  } catch (const DataError& error) {
    return report(error.what(), cli::kBadInput);
  } catch (const ShapeError& error) {
    return report(error.what(), cli::kBadInput);
  } catch (const std::exception& error) {
    return report(error.what(), cli::kFailure);
  }
}
