// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The main function: finds the command, runs it, and converts errors into one line and an exit code.
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>

#include "cli/arguments.h"
#include "cli/command_list.h"
#include "cli/failure.h"
#include "cli/output_file.h"
#include "cli/standard_output.h"
#include "core/terminal.h"
#include "io/file.h"
#include "io/json.h"
#include "runtime/bounded_spin.h"

namespace {

using namespace roentgen;

void print_error_lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    terminal::print_error(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

int run(int argc, char** argv) {
  std::vector<std::unique_ptr<cli::Command>> commands;
#define RG_COMMAND_ENTRY(name) commands.push_back(cli::make_##name##_command());
  RG_COMMAND_LIST(RG_COMMAND_ENTRY)
#undef RG_COMMAND_ENTRY
  cli::Parsed parsed = cli::parse_arguments(argc, argv, commands);
  if (parsed.exit_code == cli::kSuccess) {
    terminal::print(parsed.text);
  } else {
    print_error_lines(parsed.text);
  }
  if (parsed.command == nullptr) return parsed.exit_code;
  std::vector<Option> options = parsed.command->options();
  options.push_back({.name = "--json", .target = &parsed.json, .doc = "", .is_output = true});
  cli::check_apart(options, parsed.command->folders());
  cli::check_output_files(options, parsed.command->folders());
  const cli::CommandResult result = parsed.command->run();
  if (!parsed.json.empty() && !result.is_silent)
    io::write_file_atomically(parsed.json, io::to_json(result.json) + "\n");
  return result.exit_code;
}

// Raises the soft limit of open files to the hard limit, because reading threads keep record files open. Only programs
// that call select(2) need a low limit.
void allow_open_files() {
  constexpr rlim_t kEnough = 65536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(limit.rlim_max, kEnough);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Prints a failure and returns its exit code.
int tell(const cli::Failure& failure) {
  if (!failure.text.empty()) terminal::print_error(failure.text);
  return failure.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  runtime::bound_spin(argv);
  cli::open_standard_streams();
  allow_open_files();
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit (ulimit -f) then gives a write error, and clean-up runs
  int exit_code = cli::kSuccess;
  try {
    exit_code = run(argc, argv);
    cli::flush_output();
  } catch (...) {
    std::fflush(stdout);
    const int failed = tell(cli::failure_of(std::current_exception()));
    if (exit_code == cli::kSuccess) exit_code = failed;  // keeps kStopped of a run that stopped and saved
  }
  return exit_code;
}
