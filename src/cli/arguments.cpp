// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The only file that includes CLI11: it costs 5 s to compile.
#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/error.h"
#include "io/environment.h"

namespace roentgen::cli {
namespace {

void add_option(CLI::App& app, const Option& option) {
  CLI::Option* added = std::visit(
      [&](auto* target) -> CLI::Option* {
        using T = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<T, bool>) {
          return app.add_flag(option.name, *target, option.doc);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          return app.add_option(option.name, *target, option.doc)->take_all();
        } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
          return app.add_option_function<std::string>(
              option.name, [target](const std::string& text) { *target = text; }, option.doc);
        } else {
          return app.add_option(option.name, *target, option.doc)->capture_default_str();
        }
      },
      option.target);
  if (!std::holds_alternative<std::vector<std::string>*>(option.target) &&
      !std::holds_alternative<bool*>(option.target)) {
    added->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  if (option.need == Need::Required) added->required();
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string examples_text(const Command& command) {
  std::string text = "Examples:\n";
  std::string_view rest = command.examples();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += "  " + std::string(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

}  // namespace

Parsed parse_arguments(int argc, const char* const* argv, const std::vector<std::unique_ptr<Command>>& commands) {
  CLI::App app("Roentgen: trains, evaluates and runs chest X-ray classifiers.", "roentgen");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("roentgen {} ({})", io::program_version(), io::program_commit()));
  app.footer("Exit codes: 0 done, 1 failed, 2 bad input, 3 stopped with everything saved.");
  Parsed parsed;
  std::vector<CLI::App*> apps;
  for (const auto& command : commands) {
    CLI::App* sub = app.add_subcommand(std::string(command->name()), std::string(command->summary()));
    for (const Option& option : command->options()) add_option(*sub, option);
    add_option(*sub, {.name = "--json", .target = &parsed.json, .doc = "write the result to this file"});
    sub->footer(examples_text(*command));
    apps.push_back(sub);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto asked = std::find_if(apps.begin(), apps.end(), [](const CLI::App* sub) { return sub->parsed(); });
    parsed.text = asked == apps.end() ? app.help() : (*asked)->help("roentgen");
    return parsed;
  } catch (const CLI::CallForVersion& version) {
    parsed.text = std::string(version.what()) + "\n";
    return parsed;
  } catch (const CLI::ParseError& error) {
    throw ConfigError(fmt::format("[cli.arguments] {}; try roentgen {}--help", one_line(error.what()),
                                  argc > 1 && argv[1][0] != '-' ? std::string(argv[1]) + " " : ""));
  }
  for (std::size_t i = 0; i < apps.size(); ++i) {
    if (apps[i]->parsed()) parsed.command = commands[i].get();
  }
  return parsed;
}

}  // namespace roentgen::cli
