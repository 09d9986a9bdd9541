// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The only file that includes CLI11, because CLI11 takes 5 s to compile. Rewrites CLI11's error messages.
#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "cli/first_lines.h"
#include "cli/switch_values.h"
#include "core/error.h"
#include "core/nearest_name.h"
#include "core/short_error.h"
#include "io/environment.h"

namespace roentgen::cli {
namespace {

using Commands = std::vector<std::unique_ptr<Command>>;

[[noreturn]] void refuse(std::string_view what, std::string_view expected, std::string_view got,
                         std::string_view command) {
  const std::string help = fmt::format("roentgen {}{}--help", command, command.empty() ? "" : " ");
  throw ConfigError(error_text("cli.arguments", what, expected, got, help));
}

/// Refuses a command line by throwing ConfigError. `hint` is a clause; empty: points to the help.
/// @param what command and option with the error, such as "eval --labels"; empty: the program
[[noreturn]] void refuse_line(std::string_view what, std::string_view problem, std::string_view hint = {}) {
  const std::string_view command = what.substr(0, what.find(' '));
  const std::string help = fmt::format("try roentgen {}{}--help", command, command.empty() ? "" : " ");
  throw ConfigError(
      short_error_text("cli.arguments", what.empty() ? "roentgen" : what, problem, hint.empty() ? help : hint));
}

/// Returns the hint "did you mean --foo?" for the first name of `candidates` that begins with `word`, or else for the
/// most similar name. Empty if no name is similar.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const auto longer = std::ranges::find_if(candidates, [&](const auto& each) { return each.starts_with(word); });
  const std::string near = longer != candidates.end() ? *longer : nearest_name(word, candidates);
  return near.empty() ? near : fmt::format("did you mean {}?", near);
}

std::string_view value_name(const Option& option) {
  if (!option.value_name.empty()) return option.value_name;
  constexpr std::string_view kByTarget[] = {"", "NUMBER", "NUMBER", "TEXT", "FILE", "TEXT"};
  static_assert(std::size(kByTarget) == std::variant_size_v<Target>);
  return kByTarget[option.target.index()];
}

/// Returns an option with its kind of value, such as "--recipe FILE", or only the name of a positional argument, such
/// as "DIR".
std::string usage(const Option& option) {
  const std::string_view value = value_name(option);
  if (!option.name.starts_with('-') || value.empty()) return option.name;
  return fmt::format("{} {}", option.name, value);
}

/// Returns the range of an option's values, such as " from 0 to 1" or " of at least 0". Whole numbers have no decimal
/// point.
std::string range_text(const Option& option) {
  const Range& range = option.range;
  const auto text = [](double end) { return fmt::format("{:.15g}", end); };
  if (std::isfinite(range.high)) return fmt::format(" from {} to {}", text(range.low), text(range.high));
  return std::isfinite(range.low) ? " of at least " + text(range.low) : std::string();
}

template <typename T>
T parse_number(const std::string& text, const Option& option, std::string_view command) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [reached, error] = std::from_chars(text.data(), end, value);
  bool is_number = error == std::errc() && reached == end;
  if constexpr (std::is_floating_point_v<T>) is_number = is_number && std::isfinite(value);
  if (!is_number || !option.range.contains(static_cast<double>(value))) {
    refuse(fmt::format("{} {}", command, option.name),
           (std::is_integral_v<T> ? "a whole number" : "a number") + (is_number ? range_text(option) : ""),
           is_number ? text : "'" + text + "'", command);
  }
  return value;
}

/// True if the benchmark case `name` has the option; options without a case name belong to all cases.
bool has(std::string_view name, const Option& option) { return option.case_name.empty() || option.case_name == name; }

/// Returns the names of the benchmark cases that have an option of this name.
std::vector<std::string> cases_of(std::string_view option, const std::vector<Option>& options) {
  std::vector<std::string> cases;
  for (const Option& each : options) {
    if (each.name == option && !each.case_name.empty()) cases.push_back(each.case_name);
  }
  return cases;
}

/// Merges options of the same name. If only some benchmark cases have an option, its help text ends with the names of
/// these cases.
std::vector<Option> merged(const std::vector<Option>& options) {
  std::vector<Option> result;
  for (const Option& option : options) {
    if (std::ranges::find(result, option.name, &Option::name) != result.end()) continue;
    std::vector<std::pair<std::string, std::string>> cases_by_doc;
    for (const Option& each : options) {
      if (each.name != option.name || each.case_name.empty()) continue;
      auto found = std::ranges::find(cases_by_doc, each.doc, &std::pair<std::string, std::string>::first);
      if (found == cases_by_doc.end()) found = cases_by_doc.insert(found, {each.doc, {}});
      found->second += (found->second.empty() ? "" : ", ") + each.case_name;
    }
    Option& one = result.emplace_back(option);
    if (!cases_by_doc.empty()) one.doc.clear();
    for (const auto& [doc, cases] : cases_by_doc) {
      one.doc += fmt::format("{}{} ({} {})", one.doc.empty() ? "" : "; ", doc,
                             cases.find(',') == std::string::npos ? "case" : "cases", cases);
    }
  }
  return result;
}

/// Stores values of the command line in the option's target.
void assign(const Option& option, const std::vector<std::string>& values, std::string_view command) {
  std::visit(
      [&](auto* target) {
        using T = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<T, bool>) {
          *target = CLI::detail::to_flag_value(values.back()) > 0;
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          *target = values;
        } else if constexpr (std::is_arithmetic_v<T>) {
          *target = parse_number<T>(values.back(), option, command);
        } else {
          *target = values.back();
        }
      },
      option.target);
}

/// Prints the help with one line for each option. The text stands on the line of the option's names, even if the names
/// are long.
class LineFormatter final : public CLI::Formatter {
 public:
  LineFormatter() { label("REQUIRED", "(required)"); }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    constexpr int kNamesWidth = 28;
    const std::string names = make_option_name(option, is_positional) + make_option_opts(option);
    return fmt::format("{:<{}}  {}\n", "  " + names, kNamesWidth, make_option_desc(option));
  }
};

/// Returns the options as lines of the help. Options with the same text and kind of value share a line, such as
/// "--out,--log".
std::vector<Option> help_lines(const std::vector<Option>& options) {
  std::vector<Option> lines;
  for (const Option& option : options) {
    const auto is_alike = [&](const Option& line) {
      return line.doc == option.doc && value_name(line) == value_name(option) &&
             line.target.index() == option.target.index();
    };
    const auto line = std::ranges::find_if(lines, is_alike);
    if (line == lines.end()) {
      lines.push_back(option);
    } else {
      line->name += "," + option.name;
    }
  }
  return lines;
}

/// Default value shown in the help; empty if there is none, or if several options share the line.
std::string default_text(const Option& option) {
  if (option.name.find(',') != std::string::npos) return {};
  return std::visit(
      [](const auto* target) -> std::string {
        using T = std::remove_cvref_t<decltype(*target)>;
        if constexpr (std::is_same_v<T, std::string>) return *target;
        if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) return fmt::to_string(*target);
        return {};
      },
      option.target);
}

/// Registers an option with CLI11, which only collects the words of the command line; fill() converts the words.
void add_option(CLI::App& app, const Option& option) {
  CLI::Option* added = nullptr;
  if (std::holds_alternative<bool*>(option.target)) {
    added = app.add_flag(option.name, option.doc);
  } else if (std::holds_alternative<std::vector<std::string>*>(option.target)) {
    added = app.add_option_function<std::vector<std::string>>(
                   option.name, [](const auto&) {}, option.doc)
                ->take_all();
  } else {
    added = app.add_option_function<std::string>(
                   option.name, [](const std::string&) {}, option.doc)
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
                ->default_str(default_text(option));
  }
  if (!std::holds_alternative<bool*>(option.target)) {
    added->type_name(option.name.starts_with('-') ? std::string(value_name(option)) : std::string());
  }
  if (option.need == Need::Required) added->required();
}

/// First positional argument of the command line; empty if there is none.
std::string argument_of(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && option->count() > 0) return option->results().front();
  }
  return {};
}

/// Name of the benchmark case on the command line, or the default case.
std::string case_of(const CLI::App& app, const std::vector<Option>& options) {
  if (std::string argument = argument_of(app); !argument.empty()) return argument;
  for (const Option& option : options) {
    if (!option.name.starts_with('-')) return default_text(option);
  }
  return {};
}

/// Stores the values of the command line in the options' targets. Throws ConfigError for an option that the chosen
/// benchmark case does not have. The command itself refuses an unknown case later.
void fill(const CLI::App& app, const std::vector<Option>& options) {
  const std::string name = case_of(app, options);
  const bool is_case = std::ranges::find(options, name, &Option::case_name) != options.end();
  for (const Option& option : options) {
    const CLI::Option* given = app.get_option(option.name);
    if (given->count() == 0) continue;
    if (has(name, option)) assign(option, given->results(), app.get_name());
    const std::vector<std::string> cases = cases_of(option.name, options);
    if (cases.empty() || !is_case || std::ranges::find(cases, name) != cases.end()) continue;
    throw ConfigError(error_text("cli." + app.get_name(), option.name,
                                 fmt::format("one of the benchmark cases {}", fmt::join(cases, ", ")), name,
                                 fmt::format("{} {}", app.get_name(), cases.front())));
  }
}

/// Returns the examples of a command that contain `argument`, or all examples if none does.
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

/// Returns the help of a command. If the command line names a benchmark case, the help has only the options of this
/// case.
std::string help_of(const CLI::App& parsed, const Command& command, const std::vector<Option>& options) {
  const std::string argument = argument_of(parsed);
  CLI::App app("", "roentgen");
  app.formatter(std::make_shared<LineFormatter>());
  CLI::App* sub = app.add_subcommand(std::string(command.name()), std::string(command.summary()));
  std::vector<Option> shown = options;
  if (!argument.empty()) std::erase_if(shown, [&](const Option& option) { return !has(argument, option); });
  for (const Option& line : help_lines(argument.empty() ? merged(shown) : shown)) add_option(*sub, line);
  sub->footer(examples_text(command, argument));
  std::string text = sub->help("roentgen");
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

/// Throws ConfigError unless the first word of the command line is a command or an option of the program itself.
void check_command(std::string_view word, const Commands& commands) {
  if (word == "-h" || word == "--help" || word == "--version") return;
  std::vector<std::string> known;
  for (const auto& command : commands) known.emplace_back(command->name());
  if (std::ranges::find(known, word) != known.end()) return;
  const bool is_option = word.starts_with('-');
  refuse_line("", fmt::format("unknown {} {}", is_option ? "option" : "command", word),
              is_option ? std::string() : suggestion(word, known));
}

/// Throws ConfigError for empty values, which come from unset shell variables.
void refuse_empty_values(const CLI::App& app, const std::vector<Option>& options) {
  for (const Option& option : options) {
    if (std::holds_alternative<bool*>(option.target)) continue;
    const std::vector<std::string> values = app.get_option(option.name)->results();
    if (std::find(values.begin(), values.end(), "") == values.end()) continue;
    refuse_line(app.get_name(), fmt::format("{} has an empty value", option.name));
  }
}

/// Throws ConfigError with a clearer text for an error of CLI11.
[[noreturn]] void explain(const CLI::ParseError& error, const CLI::App& app, const std::vector<Option>& options) {
  const std::string name = app.get_name() == "roentgen" ? "" : app.get_name();
  for (const Option& option : options) {
    if (option.need != Need::Required || app.get_option(option.name)->count() > 0) continue;
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) refuse_missing(name, usage(option));
  }
  const std::vector<std::string> extra = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extra.empty()) {
    const std::string& word = extra.front();
    if (!word.starts_with('-')) refuse_line(name, "unexpected argument " + word);
    std::vector<std::string> known;
    for (const Option& option : options) known.push_back(option.name);
    refuse_line(name, "unknown option " + word, suggestion(word.substr(0, word.find('=')), known));
  }
  const std::string_view text = error.what();
  for (const Option& option : options) {  // CLI11's text: "--data: 1 required DIR missing"
    if (text.starts_with(option.name + ":")) refuse_line(name, fmt::format("{} needs a value", usage(option)));
  }
  refuse_line(name, text);
}

}  // namespace

Parsed parse_arguments(int argc, const char* const* argv, const Commands& commands) {
  CLI::App app("Roentgen: trains, evaluates and runs chest X-ray classifiers.", "roentgen");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("roentgen {} ({})", io::program_version(), io::program_commit()));
  app.formatter(std::make_shared<LineFormatter>());
  app.footer(
      "Examples:\n  roentgen inspect --data DIR\n"
      "  roentgen train --recipe default --data DIR --out run\n"
      "  roentgen eval --checkpoint run/checkpoints/best.safetensors --data DIR --split test\n"
      "roentgen COMMAND --help has more.\n\nExit codes: 0 done, 1 failed, 2 bad input, 3 stopped with everything "
      "saved.");
  Parsed parsed;
  const Option json{.name = "--json", .target = &parsed.json, .doc = "write the result to this JSON file"};
  std::vector<CLI::App*> apps;
  std::vector<std::vector<Option>> options;
  for (const auto& command : commands) {
    CLI::App* sub = app.add_subcommand(std::string(command->name()), std::string(command->summary()));
    options.push_back(command->options());
    options.back().push_back(json);
    for (const Option& option : merged(options.back())) add_option(*sub, option);
    apps.push_back(sub);
  }
  if (argc < 2) return {.text = first_steps(), .exit_code = kBadInput};
  check_command(argv[1], commands);
  const auto asked = [&] {
    return std::find_if(apps.begin(), apps.end(), [](const CLI::App* sub) { return sub->parsed(); }) - apps.begin();
  };
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (words.front() == commands[i]->name()) words = with_switch_values(words, options[i]);
  }
  std::ranges::reverse(words);  // the order that CLI11 expects
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    const auto index = static_cast<std::size_t>(asked());
    parsed.text = index == apps.size() ? app.help() : help_of(*apps[index], *commands[index], options[index]);
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
  if (argc == 2 && commands[index]->needs_options()) {
    return {.text = first_lines(*commands[index]), .exit_code = kBadInput};
  }
  refuse_empty_values(*apps[index], options[index]);
  fill(*apps[index], options[index]);
  parsed.command = commands[index].get();
  return parsed;
}

void refuse_missing(std::string_view what, std::string_view usage) {
  refuse_line(what, fmt::format("{} is missing", usage));
}

void refuse_arguments(std::string_view what, std::string_view expected, std::string_view got, std::string_view remedy) {
  const std::string help = fmt::format("roentgen {} --help", what.substr(0, what.find(' ')));
  throw ConfigError(error_text("cli.arguments", what, expected, got, remedy.empty() ? help : remedy));
}

}  // namespace roentgen::cli
