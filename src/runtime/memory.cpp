// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "runtime/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

#include "core/error.h"
#include "runtime/control_groups.h"

namespace roentgen::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Parses the number at the start of a text; nullopt for "max".
std::optional<std::size_t> number_in(std::string_view text) {
  std::size_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

std::size_t left_in_group(const fs::path& group, bool is_second) {
  const auto limit = number_in(text_of(group / (is_second ? "memory.max" : "memory.limit_in_bytes")));
  const auto used = number_in(text_of(group / (is_second ? "memory.current" : "memory.usage_in_bytes")));
  if (!limit || !used || *limit > kNoLimit / 4) return kNoLimit;  // cgroup v1 writes a huge number: no limit
  const std::string facts = "\n" + text_of(group / "memory.stat");
  const std::string key = is_second ? "\ninactive_file " : "\ntotal_inactive_file ";
  const std::size_t at = facts.find(key);
  const std::size_t droppable =
      at == std::string::npos ? 0 : number_in(std::string_view(facts).substr(at + key.size())).value_or(0);
  const std::size_t held = *used - std::min(*used, droppable);
  return *limit - std::min(*limit, held);
}

}  // namespace

std::size_t parse_available_memory(std::string_view meminfo) {
  constexpr std::string_view kKey = "MemAvailable:";
  const std::size_t at = meminfo.find(kKey);
  if (at == std::string_view::npos) return 0;
  const std::size_t digit = meminfo.find_first_not_of(' ', at + kKey.size());
  if (digit == std::string_view::npos) return 0;
  std::size_t kib = 0;
  const auto result = std::from_chars(meminfo.data() + digit, meminfo.data() + meminfo.size(), kib);
  return result.ec == std::errc{} ? kib * 1024 : 0;
}

std::size_t cgroup_memory_left(const fs::path& root, std::string_view membership) {
  std::size_t left = kNoLimit;
  for_each_control_group(root, membership, "memory", [&left](const fs::path& group, bool is_second) {
    left = std::min(left, left_in_group(group, is_second));
  });
  return left;
}

std::size_t available_memory_bytes() {
  const std::size_t machine = parse_available_memory(text_of("/proc/meminfo"));
  const std::size_t left = cgroup_memory_left("/sys/fs/cgroup", text_of("/proc/self/cgroup"));
  if (left == kNoLimit) return machine;
  return machine == 0 ? std::max<std::size_t>(left, 1) : std::min(machine, std::max<std::size_t>(left, 1));
}

std::size_t resident_memory_bytes() {
  const std::string text = text_of("/proc/self/statm");  // numbers of pages: total, resident, ...
  const std::size_t space = std::min(text.find(' '), text.size());
  const auto pages = number_in(std::string_view(text).substr(std::min(space + 1, text.size())));
  return pages.value_or(0) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

bool reset_peak_resident_memory() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

std::size_t peak_resident_memory_bytes() {
  constexpr std::string_view kKey = "VmHWM:";
  const std::string text = text_of("/proc/self/status");
  if (const std::size_t at = text.find(kKey); at != std::string::npos) {
    const std::size_t digit = std::min(text.find_first_of("0123456789", at), text.size());
    if (const auto kib = number_in(std::string_view(text).substr(digit))) return *kib * 1024;
  }
  // Fallback: peak since the process began, including programs that ran in it before exec().
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

void require_memory(std::string_view thing, std::size_t bytes, std::string_view remedy) {
  const std::size_t available = available_memory_bytes();
  if (available == 0 || bytes <= available) return;
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  throw ConfigError(error_text(thing, "memory",
                               fmt::format("at most {:.1f} GiB (free memory)", static_cast<double>(available) / kGiB),
                               fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGiB), remedy));
}

}  // namespace roentgen::runtime
