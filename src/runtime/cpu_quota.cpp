// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/cpu_quota.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>

#include "runtime/control_groups.h"

namespace roentgen::runtime {
namespace {

namespace fs = std::filesystem;

/// Parses the number at the start of a text; nullopt for "max" and numbers that are not positive.
std::optional<double> positive_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  double number = 0.0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc{} && number > 0.0 ? std::optional(number) : std::nullopt;
}

/// Quota of one control group in cores; nullopt without a quota.
std::optional<double> quota_of(const fs::path& group, bool is_second, const ReadText& read) {
  constexpr double kUsualPeriod_us = 100'000.0;
  const std::string text = read(group / (is_second ? "cpu.max" : "cpu.cfs_quota_us")).value_or("");
  const auto quota_us = positive_number(text);
  if (!quota_us) return std::nullopt;
  const std::string period = is_second ? text.substr(std::min(text.find(' '), text.size()))  // "250000 100000"
                                       : read(group / "cpu.cfs_period_us").value_or("");
  return *quota_us / positive_number(period).value_or(kUsualPeriod_us);
}

std::optional<std::string> text_of(const fs::path& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

std::optional<double> cgroup_cpu_quota(const fs::path& root, std::string_view membership, const ReadText& read) {
  std::optional<double> least;
  for_each_control_group(root, membership, "cpu", [&](const fs::path& group, bool is_second) {
    const auto quota = quota_of(group, is_second, read);
    if (quota && (!least || *quota < *least)) least = quota;
  });
  return least;
}

std::optional<double> cpu_quota_cores() {
  static const std::optional<double> quota =
      cgroup_cpu_quota("/sys/fs/cgroup", text_of("/proc/self/cgroup").value_or(""), text_of);
  return quota;
}

int within_quota(int cores, std::optional<double> quota_cores, int processes) {
  const double own = quota_cores ? std::ceil(*quota_cores / std::max(processes, 1)) : cores;
  return std::max(1, static_cast<int>(std::min(own, static_cast<double>(cores))));
}

}  // namespace roentgen::runtime
