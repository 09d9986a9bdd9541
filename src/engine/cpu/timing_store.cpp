// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/timing_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "core/thread_annotations.h"
#include "engine/cpu/primitive.h"
#include "engine/cpu/processor.h"
#include "engine/cpu/simd/isa.h"
#include "engine/cpu/simd/tiles.h"
#include "runtime/cache_folder.h"

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

// What the next line must begin with: a process that died while it appended leaves a line without an end, which would
// swallow this one. The tab damages what it left, so that a number cut short is not taken for a whole one.
std::string_view end_of_torn(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream || stream.tellg() <= 0) return "";
  stream.seekg(-1, std::ios::end);
  return stream.get() == '\n' ? "" : "\ttorn\n";
}

// Empty, or why not.
std::string append(const fs::path& file, const std::string& line) {
  std::error_code failure;
  fs::create_directories(file.parent_path(), failure);
  if (failure) return failure.message();
  const std::string text = std::string(end_of_torn(file)) + line;
  errno = 0;
  std::ofstream stream(file, std::ios::binary | std::ios::app);
  stream.write(text.data(), static_cast<std::streamsize>(text.size())).flush();
  if (stream) return "";
  return errno == 0 ? "a failure" : std::generic_category().message(errno);
}

// Once for a file, of which a process has one.
void warn_once(const fs::path& file, const std::string& reason) {
  static Mutex mutex;
  static std::set<fs::path> told;
  const MutexLock lock(mutex);
  if (!told.insert(file).second) return;
  log::warning(error_text("engine.timings", file.string(), "a folder that can be written", reason,
                          "XDG_CACHE_HOME=DIR, or every process measures again"));
}

}  // namespace

fs::path timing_file() {
  const fs::path folder = runtime::default_cache_folder();
  return folder.empty() ? folder : folder / "algorithm_timings.txt";
}

std::string timing_machine() {
  return one_field(fmt::format("{}; {}; {}; {}", this_processor(), library_description(), simd::target_name(),
                               simd::tile_instructions()));
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
  if (const std::string reason = append(file_, line); !reason.empty()) warn_once(file_, reason);
}

}  // namespace roentgen::engine::cpu
