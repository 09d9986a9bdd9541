// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The only file that includes CLI11: it costs 5 s to compile. What CLI11 finds wrong is told in our own words.
#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "core/error.h"
#include "io/environment.h"

namespace roentgen::cli {
namespace {

using Commands = std::vector<std::unique_ptr<Command>>;

[[noreturn]] void refuse(std::string_view what, std::string_view expected, std::string_view got,
                         std::string_view command) {
  const std::string help = fmt::format("roentgen {}{}--help", command, command.empty() ? "" : " ");
  throw ConfigError(error_text("cli.arguments", what, expected, got, help));
}

std::string_view value_name(const Option& option) {
  if (!option.value_name.empty()) return option.value_name;
  constexpr std::string_view kByTarget[] = {"", "NUMBER", "NUMBER", "TEXT", "FILE", "TEXT"};
  static_assert(std::size(kByTarget) == std::variant_size_v<Target>);
  return kByTarget[option.target.index()];
}

/// "--recipe FILE"; "DIR" for an argument without a name.
std::string usage(const Option& option) {
  const std::string_view value = value_name(option);
  if (!option.name.starts_with('-') || value.empty()) return option.name;
  return fmt::format("{} {}", option.name, value);
}

/// "0 to 1", "of at least 0": for whole numbers without a decimal point.
std::string range_text(const Option& option) {
  const auto text = [](double end) { return fmt::format("{:.15g}", end); };
  if (std::isfinite(option.most)) return fmt::format(" from {} to {}", text(option.least), text(option.most));
  return std::isfinite(option.least) ? " of at least " + text(option.least) : std::string();
}

template <typename T>
T parse_number(const std::string& text, const Option& option, std::string_view command) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [reached, error] = std::from_chars(text.data(), end, value);
  bool is_number = error == std::errc() && reached == end;
  if constexpr (std::is_floating_point_v<T>) is_number = is_number && std::isfinite(value);
  const auto size = static_cast<double>(value);
  if (!is_number || size < option.least || size > option.most) {
    refuse(fmt::format("{} {}", command, option.name),
           (std::is_integral_v<T> ? "a whole number" : "a number") + (is_number ? range_text(option) : ""),
           is_number ? text : "'" + text + "'", command);
  }
  return value;
}

CLI::Option* add_target(CLI::App& app, const Option& option) {
  return std::visit(
      [&](auto* target) -> CLI::Option* {
        using T = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<T, bool>) {
          return app.add_flag(option.name, *target, option.doc);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          return app.add_option(option.name, *target, option.doc)->take_all();
        } else if constexpr (std::is_arithmetic_v<T>) {
          const auto read = [target, option, command = app.get_name()](const std::string& text) {
            *target = parse_number<T>(text, option, command);
          };
          return app.add_option_function<std::string>(option.name, read, option.doc)
              ->default_str(fmt::to_string(*target));
        } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
          return app.add_option_function<std::string>(
              option.name, [target](const std::string& text) { *target = text; }, option.doc);
        } else {
          return app.add_option(option.name, *target, option.doc)->capture_default_str();
        }
      },
      option.target);
}

void add_option(CLI::App& app, const Option& option) {
  CLI::Option* added = add_target(app, option);
  if (!std::holds_alternative<bool*>(option.target)) {
    added->type_name(option.name.starts_with('-') ? std::string(value_name(option)) : std::string());
    if (!std::holds_alternative<std::vector<std::string>*>(option.target)) {
      added->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }
  if (option.need == Need::Required) added->required();
}

/// The command's examples; only those with `argument` where there are any.
std::string examples_text(const Command& command, std::string_view argument) {
  const std::string wanted = fmt::format("{} {}", command.name(), argument);
  std::string text;
  std::string_view rest = command.examples();
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (argument.empty() || line.ends_with(wanted) || line.find(wanted + " ") != std::string_view::npos) {
      text += fmt::format("  {}\n", line);
    }
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  if (text.empty() && !argument.empty()) return examples_text(command, {});
  return "Examples:\n" + text;
}

/// The help of a command, or of what its first argument without a name says.
std::string help_of(const CLI::App& parsed, Command& command, const Option& json) {
  std::string argument;
  for (const CLI::Option* option : parsed.get_options()) {
    if (option->get_positional() && option->count() > 0 && argument.empty()) argument = option->results().front();
  }
  CLI::App app("", "roentgen");
  app.get_formatter()->label("REQUIRED", "(required)");
  CLI::App* sub = app.add_subcommand(std::string(command.name()), std::string(command.summary()));
  for (const Option& option : argument.empty() ? command.options() : command.options_of(argument)) {
    add_option(*sub, option);
  }
  add_option(*sub, json);
  sub->footer(examples_text(command, argument));
  return sub->help("roentgen");
}

/// The first word of the command line must be a command, or an option of the program itself.
void check_command(int argc, const char* const* argv, const Commands& commands) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "-h" || word == "--help" || word == "--version") return;
  std::string known;
  for (const auto& command : commands) {
    if (command->name() == word) return;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", command->name());
  }
  refuse("command", "one of " + known, word.empty() ? "none" : word, "");
}

/// An empty value is a shell variable that is not set: never what was meant.
void refuse_empty_values(const CLI::App& app, const std::vector<Option>& options) {
  for (const Option& option : options) {
    if (std::holds_alternative<bool*>(option.target)) continue;
    const std::vector<std::string> values = app.get_option(option.name)->results();
    if (std::find(values.begin(), values.end(), "") == values.end()) continue;
    refuse(app.get_name(), usage(option), fmt::format("{} with nothing", option.name), app.get_name());
  }
}

/// What CLI11 did not understand, in our form.
[[noreturn]] void explain(const CLI::ParseError& error, const CLI::App& app, const std::vector<Option>& options) {
  const std::string name = app.get_name() == "roentgen" ? "" : app.get_name();
  const std::string what = name.empty() ? "options" : name;
  for (const Option& option : options) {
    if (option.need != Need::Required || app.get_option(option.name)->count() > 0) continue;
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) refuse(what, usage(option), "none", name);
  }
  const std::vector<std::string> extra = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extra.empty()) {
    refuse(what, extra.front().starts_with('-') ? "an option it has" : "no further argument", extra.front(), name);
  }
  const std::string_view text = error.what();
  for (const Option& option : options) {  // "--data: 1 required DIR missing"
    if (text.starts_with(option.name + ":"))
      refuse(what, usage(option), option.name + " with nothing of that form", name);
  }
  refuse(what, "arguments that fit together", text, name);
}

}  // namespace

Parsed parse_arguments(int argc, const char* const* argv, const Commands& commands) {
  CLI::App app("Roentgen: trains, evaluates and runs chest X-ray classifiers.", "roentgen");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("roentgen {} ({})", io::program_version(), io::program_commit()));
  app.get_formatter()->label("REQUIRED", "(required)");
  app.footer(
      "Examples:\n  roentgen inspect --data DIR\n"
      "  roentgen train --recipe recipes/default.toml --data DIR --out run\n"
      "  roentgen eval --checkpoint run/checkpoints/best.safetensors --data DIR --split test\n"
      "roentgen COMMAND --help has more.\n\nExit codes: 0 done, 1 failed, 2 bad input, 3 stopped with everything "
      "saved.");
  Parsed parsed;
  const Option json{.name = "--json", .target = &parsed.json, .doc = "write the result to this file"};
  std::vector<CLI::App*> apps;
  std::vector<std::vector<Option>> options;
  for (const auto& command : commands) {
    CLI::App* sub = app.add_subcommand(std::string(command->name()), std::string(command->summary()));
    options.push_back(command->options());
    options.back().push_back(json);
    for (const Option& option : options.back()) add_option(*sub, option);
    apps.push_back(sub);
  }
  check_command(argc, argv, commands);
  const auto asked = [&] {
    return std::find_if(apps.begin(), apps.end(), [](const CLI::App* sub) { return sub->parsed(); }) - apps.begin();
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto index = static_cast<std::size_t>(asked());
    parsed.text = index == apps.size() ? app.help() : help_of(*apps[index], *commands[index], json);
    return parsed;
  } catch (const CLI::CallForVersion& version) {
    parsed.text = std::string(version.what()) + "\n";
    return parsed;
  } catch (const CLI::ParseError& error) {
    const auto index = static_cast<std::size_t>(asked());
    if (index == apps.size()) explain(error, app, {});
    explain(error, *apps[index], options[index]);
  }
  const auto index = static_cast<std::size_t>(asked());
  refuse_empty_values(*apps[index], options[index]);
  parsed.command = commands[index].get();
  return parsed;
}

}  // namespace roentgen::cli
