// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/timing_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "engine/cpu/primitive.h"
#include "engine/cpu/simd/isa.h"

namespace roentgen::engine::cpu {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVersion = "v1";

// What stands before the next `separator`, which is taken off as well.
std::string_view next(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// Tabs and line ends would be taken for those of the file.
std::string one_field(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return text;
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.find(':') + 1, line.size()));
  }
  return "unknown";
}

}  // namespace

fs::path timing_file() {
  constexpr std::string_view kName = "roentgen/algorithm_timings.txt";
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return fs::path(cache) / kName;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".cache" / kName;
  return {};
}

std::string timing_machine() {
  return one_field(fmt::format("{}; {}; {}", processor(), library_description(), simd::target_name()));
}

TimingStore::TimingStore(fs::path file, std::string machine)
    : file_(std::move(file)), machine_(one_field(std::move(machine))) {
  std::ifstream stream(file_, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  const std::string all = text.str();
  std::string_view rest = all;
  while (rest.find('\n') != std::string_view::npos) take_line(next(rest, '\n'));  // a last line without end is torn
}

void TimingStore::take_line(std::string_view line) {
  if (next(line, '\t') != kVersion || next(line, '\t') != machine_) return;
  const std::string key(next(line, '\t'));
  Timings timings;
  while (!line.empty()) {
    std::string_view seconds = next(line, ' ');
    const std::string_view name = next(seconds, '=');
    double value = 0.0;
    const auto [end, failure] = std::from_chars(seconds.data(), seconds.data() + seconds.size(), value);
    const bool is_whole = failure == std::errc{} && end == seconds.data() + seconds.size();
    if (name.empty() || !is_whole || !std::isfinite(value) || value <= 0.0) return;
    timings.emplace(name, value);
  }
  if (!key.empty() && !timings.empty()) timings_[key] = std::move(timings);
}

std::optional<Timings> TimingStore::find(const std::string& key, const std::vector<std::string>& wanted) const {
  const auto found = timings_.find(key);
  if (found == timings_.end()) return std::nullopt;
  const bool has_all =
      std::ranges::all_of(wanted, [&](const std::string& name) { return found->second.contains(name); });
  return has_all ? std::optional(found->second) : std::nullopt;
}

void TimingStore::put(const std::string& key, const Timings& timings) {
  timings_[key] = timings;
  if (file_.empty()) return;
  std::string line = fmt::format("{}\t{}\t{}\t", kVersion, machine_, key);
  for (const auto& [name, seconds] : timings) {
    line += fmt::format("{}{}={}", line.back() == '\t' ? "" : " ", name, seconds);
  }
  line += '\n';
  std::error_code ignored;  // without the folder there is no file, and the next process measures again
  fs::create_directories(file_.parent_path(), ignored);
  std::ofstream(file_, std::ios::binary | std::ios::app).write(line.data(), static_cast<std::streamsize>(line.size()));
}

}  // namespace roentgen::engine::cpu
