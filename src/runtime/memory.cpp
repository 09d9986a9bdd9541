// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "runtime/memory.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <sstream>
#include <string>

#include "core/error.h"

namespace roentgen::runtime {

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

std::size_t available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  std::ostringstream text;
  text << file.rdbuf();
  return parse_available_memory(text.str());
}

void require_memory(std::string_view thing, std::size_t bytes, std::string_view remedy) {
  const std::size_t available = available_memory_bytes();
  if (available == 0 || bytes <= available) return;
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  throw ConfigError(
      error_text(thing, "memory",
                 fmt::format("at most {:.1f} GiB, what the machine has left", static_cast<double>(available) / kGiB),
                 fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGiB), remedy));
}

}  // namespace roentgen::runtime
