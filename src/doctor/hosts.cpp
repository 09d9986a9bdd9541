// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "doctor/hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

namespace roentgen::doctor {
namespace {

constexpr std::chrono::milliseconds kLimit{60'000};
/// Last parts of keys whose values change by themselves, or identify one device.
constexpr std::array<std::string_view, 6> kChanging{"clock_mhz",  "throttle_reasons", "link_generation",
                                                    "free_bytes", "temperature_c",    "speed"};

std::string text_of(const Value& value) {
  if (value.is_null()) return "none";
  if (value.is_bool()) return value.as_bool() ? "yes" : "no";
  if (value.is_integer()) return fmt::to_string(value.as_integer());
  return value.is_double() ? fmt::format("{:.6g}", value.as_double()) : value.as_string();
}

/// Adds every leaf of a tree with its path.
void flatten(const Value& value, const std::string& path, std::map<std::string, std::string>& leaves) {
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  if (value.is_table()) {
    for (const auto& [key, each] : value.as_table()) {
      if (std::ranges::find(kChanging, key) == kChanging.end()) flatten(each, below(key), leaves);
    }
  } else if (value.is_array()) {
    leaves[below("count")] = fmt::to_string(value.as_array().size());
    for (std::size_t i = 0; i < value.as_array().size(); ++i) {
      flatten(value.as_array()[i], below(fmt::to_string(i)), leaves);
    }
  } else {
    leaves[path] = text_of(value);
  }
}

}  // namespace

std::string Difference::text() const {
  std::string text = key + ":";
  for (const Group& group : groups) {
    text += fmt::format("{} {} on {}", &group == groups.data() ? "" : ";", group.value, fmt::join(group.hosts, ", "));
  }
  return text;
}

std::vector<Difference> differences(std::span<const HostReport> reports) {
  std::vector<std::map<std::string, std::string>> machines;
  std::map<std::string, bool> keys;
  for (const HostReport& report : reports) {
    flatten(report.machine, "", machines.emplace_back());
    for (const auto& [key, value] : machines.back()) keys[key] = true;
  }
  std::vector<Difference> found;
  for (const auto& [key, exists] : keys) {
    Difference difference{.key = key};
    for (std::size_t i = 0; i < reports.size(); ++i) {
      const auto leaf = machines[i].find(key);
      const std::string value = leaf == machines[i].end() ? "none" : leaf->second;
      auto group = std::ranges::find(difference.groups, value, &Difference::Group::value);
      if (group == difference.groups.end()) {
        difference.groups.push_back({.value = value});
        group = std::prev(difference.groups.end());
      }
      group->hosts.push_back(reports[i].host);
    }
    if (difference.groups.size() < 2) continue;
    std::ranges::stable_sort(difference.groups, std::ranges::greater{},
                             [](const Difference::Group& group) { return group.hosts.size(); });
    found.push_back(std::move(difference));
  }
  return found;
}

Value to_value(std::span<const Difference> differences) {
  Value array = Value::array();
  for (const Difference& difference : differences) {
    Value values = Value::array();
    for (const auto& [value, names] : difference.groups) {
      Value hosts = Value::array();
      for (const std::string& name : names) hosts.push_back(name);
      values.push_back(Value::Table{{"value", value}, {"hosts", std::move(hosts)}});
    }
    array.push_back(Value::Table{{"key", difference.key}, {"values", std::move(values)}});
  }
  return array;
}

std::vector<std::string> gather_texts(dist::Communicator& group, const std::string& own) {
  const auto ranks = static_cast<std::size_t>(group.size());
  const std::uint64_t size = own.size();
  std::vector<std::uint64_t> sizes(ranks);
  group.all_gather(std::as_bytes(std::span(&size, 1)), std::as_writable_bytes(std::span(sizes)), {.name = "doctor"})
      .wait(kLimit);
  const std::uint64_t most = *std::ranges::max_element(sizes);
  std::string padded = own;
  padded.resize(most);
  std::string all(most * ranks, '\0');
  group.all_gather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all)), {.name = "doctor"})
      .wait(kLimit);
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < ranks; ++rank) texts.push_back(all.substr(rank * most, sizes[rank]));
  return texts;
}

}  // namespace roentgen::doctor
