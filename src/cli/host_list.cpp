// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/host_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/comma_list.h"
#include "core/error.h"
#include "core/plural.h"
#include "core/whole_number.h"
#include "dist/host_tasks.h"
#include "io/file.h"

namespace roentgen::cli {
namespace {

constexpr std::uint64_t kMostFileBytes = 1U << 24U;
constexpr std::size_t kMostNameBytes = 255;  // longest name in DNS

bool is_host_name(std::string_view name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  };
  return !name.empty() && name.size() <= kMostNameBytes && name.front() != '-' && std::ranges::all_of(name, is_good);
}

[[noreturn]] void refuse_list(std::string_view what, std::string_view expected, std::string_view got) {
  constexpr std::size_t kMost = 60;
  const std::string shown = got.size() > kMost ? std::string(got.substr(0, kMost)) + "..." : std::string(got);
  throw ConfigError(error_text("cli.hosts", what, expected, shown, "--hosts a:2,b:2, or --hosts-from FILE"));
}

constexpr std::string_view kNodes = "SLURM_JOB_NODELIST";
constexpr std::string_view kTasks = "SLURM_TASKS_PER_NODE";

/// Range of numbers such as "07-12", or a single number.
struct Numbers {
  std::int64_t first = 0;
  std::int64_t last = 0;
  int digits = 1;
};

std::vector<Numbers> parse_ranges(std::string_view inside) {
  std::vector<Numbers> ranges;
  for (const std::string_view part : comma_parts(inside)) {
    const std::size_t dash = part.find('-');
    const std::string_view low = part.substr(0, dash);
    const auto first = whole_number(low);
    const auto last = dash == std::string_view::npos ? first : whole_number(part.substr(dash + 1));
    if (!first || !last || *last < *first) refuse_list(kNodes, "numbers and ranges such as 1-3,7 in brackets", part);
    ranges.push_back({.first = *first, .last = *last, .digits = static_cast<int>(low.size())});
  }
  return ranges;
}

void require_count(std::int64_t count, std::string_view what, std::string_view text) {
  if (count <= kMostHostSlots) return;
  refuse_list(what, fmt::format("at most {} hosts or ranks", kMostHostSlots), text);
}

// Replaces every name by several names, each with one number of the bracket appended.
void append_ranges(std::vector<std::string>& names, const std::vector<Numbers>& ranges, std::string_view item) {
  std::int64_t count = 0;  // cannot overflow, because the text has at most 16 MiB
  for (const Numbers& range : ranges) count += range.last - range.first + 1;
  require_count(count, kNodes, item);
  require_count(count * std::ssize(names), kNodes, item);
  std::vector<std::string> longer;
  for (const std::string& name : names) {
    for (const Numbers& range : ranges) {
      for (std::int64_t i = range.first; i <= range.last; ++i) {
        longer.push_back(fmt::format("{}{:0{}}", name, i, range.digits));
      }
    }
  }
  names = std::move(longer);
}

std::vector<std::string> expand_item(std::string_view item) {
  std::vector<std::string> names{""};
  while (!item.empty()) {
    const std::size_t open = std::min(item.find('['), item.size());
    for (std::string& name : names) name += item.substr(0, open);
    if (open == item.size()) break;
    const std::size_t close = item.find(']', open);
    append_ranges(names, parse_ranges(item.substr(open + 1, close - open - 1)), item);
    item.remove_prefix(close + 1);
  }
  for (const std::string& name : names) {
    if (!is_host_name(name)) refuse_list(kNodes, "host names", name.empty() ? "an empty name" : name);
  }
  return names;
}

// Returns the value of an environment variable; nullopt if it is not set.
std::optional<std::string> value_of(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& variable : environment) {
    if (variable.size() > name.size() && variable.starts_with(name) && variable[name.size()] == '=') {
      return variable.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

std::string require_value(const std::vector<std::string>& environment, std::string_view name, std::string_view source) {
  const auto value = value_of(environment, name);
  if (value && !value->empty()) return *value;
  throw ConfigError(error_text("cli.hosts", fmt::format("--hosts-from {}", source), fmt::format("{} to be set", name),
                               "no such variable",
                               "running the command inside a job, --hosts a:2,b:2, or --hosts-from FILE"));
}

// Throws ConfigError for a heterogeneous job, because separate variables contain the hosts of its other components.
void refuse_components(const std::vector<std::string>& environment) {
  constexpr std::string_view kComponents = "SLURM_HET_SIZE";
  const std::string text = value_of(environment, kComponents).value_or("");
  if (text.empty() || text == "0" || text == "1") return;
  throw ConfigError(error_text("cli.hosts", kComponents, "a job of one component with --hosts-from slurm",
                               fmt::format("a heterogeneous job of {} components", text),
                               "--hosts-from FILE with the hosts of all components, or a job of one component"));
}

HostList slurm_hosts(const std::vector<std::string>& environment) {
  refuse_components(environment);
  const std::vector<std::string> names = expand_node_list(require_value(environment, kNodes, "slurm"));
  const std::string text = require_value(environment, kTasks, "slurm");
  const std::vector<std::int64_t> tasks = expand_tasks_per_node(text);
  if (tasks.size() != names.size()) {
    refuse_list(kTasks, fmt::format("a number for each of {}", counted(std::ssize(names), "host")), text);
  }
  HostList hosts;
  for (std::size_t i = 0; i < names.size(); ++i) hosts.push_back({.name = names[i], .slots = tasks[i]});
  require_count(slots_of(hosts), kTasks, text);
  return hosts;
}

}  // namespace

std::vector<std::string> expand_node_list(std::string_view text) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  bool is_inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if ((c == '[' && is_inside) || (c == ']' && !is_inside) || (i == text.size() && is_inside)) {
      refuse_list(kNodes, "a closing bracket ] for every [", text.substr(begin));
    }
    if (c == '[' || c == ']') is_inside = c == '[';
    if (c != ',' || is_inside) continue;
    for (std::string& name : expand_item(text.substr(begin, i - begin))) names.push_back(std::move(name));
    require_count(std::ssize(names), kNodes, text);
    begin = i + 1;
  }
  return names;
}

std::vector<std::int64_t> expand_tasks_per_node(std::string_view text) {
  std::vector<std::int64_t> all;
  for (const std::string_view part : comma_parts(text)) {
    const auto parsed = dist::parse_host_tasks(part);
    if (!parsed) refuse_list(kTasks, "numbers of tasks such as 2(x3),1", part);
    require_count(std::ssize(all) + parsed->hosts, kTasks, text);
    require_count(parsed->tasks, kTasks, text);
    all.insert(all.end(), static_cast<std::size_t>(parsed->hosts), parsed->tasks);
  }
  return all;
}

namespace {

/// Parts of a line "host", "host:slots" or "host slots=N". `slots` is empty if it is no number.
struct HostLine {
  std::string_view name;
  std::optional<std::int64_t> slots;
};

HostLine parse_host_line(std::string_view line) {
  constexpr std::string_view kSlots = "slots=";  // as in a host file of Open MPI
  const std::size_t end = line.find_first_of(": \t");
  if (end == std::string_view::npos) return {.name = line, .slots = 1};
  std::string_view number = line.substr(end + 1);
  if (line[end] != ':') {
    number.remove_prefix(std::min(number.find_first_not_of(" \t"), number.size()));
    if (!number.starts_with(kSlots)) return {.name = line, .slots = std::nullopt};
    number.remove_prefix(kSlots.size());
  }
  return {.name = line.substr(0, end), .slots = whole_number(number)};
}

}  // namespace

HostList parse_host_lines(std::string_view text, std::string_view what) {
  HostList hosts;
  std::map<std::string, std::size_t, std::less<>> known;
  std::int64_t total = 0;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
    const auto [name, slots] = parse_host_line(line);
    const std::string where = fmt::format("{}, line {}", what, number);
    if (!is_host_name(name) || !slots || *slots < 1) refuse_list(where, "host, host:slots or host slots=N", line);
    total += *slots;
    require_count(total, where, line);
    const auto [place, is_new] = known.try_emplace(std::string(name), hosts.size());
    if (is_new) hosts.push_back({.name = std::string(name), .slots = 0});
    hosts[place->second].slots += *slots;
  }
  if (hosts.empty()) refuse_list(what, "lines with host or host:slots", "no hosts");
  return hosts;
}

HostList hosts_from(const std::string& source, const std::vector<std::string>& environment) {
  if (source == "slurm") return slurm_hosts(environment);
  const std::string file = source == "pbs" ? require_value(environment, "PBS_NODEFILE", source) : source;
  return parse_host_lines(io::read_text(file, kMostFileBytes).or_throw<ConfigError>(), file);
}

std::int64_t slots_of(const HostList& hosts) {
  std::int64_t total = 0;
  for (const HostSlots& host : hosts) total += host.slots;
  return total;
}

HostList first_slots(HostList hosts, std::int64_t ranks) {
  if (ranks == 0) return hosts;
  const std::int64_t total = slots_of(hosts);
  if (ranks > total) {
    throw ConfigError(error_text("cli.hosts", "--ranks",
                                 fmt::format("at most {}, the number of slots in --hosts-from", total),
                                 fmt::to_string(ranks), "a smaller --ranks, or more slots per host"));
  }
  HostList kept;
  for (HostSlots& host : hosts) {
    if (ranks == 0) break;
    host.slots = std::min(host.slots, ranks);
    ranks -= host.slots;
    kept.push_back(std::move(host));
  }
  return kept;
}

std::string text_of(const HostList& hosts) {
  std::string text;
  for (const HostSlots& host : hosts) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", host.name, host.slots);
  return text;
}

HostList parse_hosts(std::string_view text) {
  HostList hosts;
  for (const std::string_view part : comma_parts(text)) {
    const std::size_t colon = part.rfind(':');
    const auto slots = colon == std::string_view::npos ? std::nullopt : whole_number(part.substr(colon + 1));
    hosts.push_back({.name = std::string(part.substr(0, colon)), .slots = slots.value_or(1)});
  }
  return hosts;
}

}  // namespace roentgen::cli
