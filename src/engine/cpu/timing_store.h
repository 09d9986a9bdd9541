// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What kernels took when they were timed, in a file that later processes of the same machine read. It knows names and
// seconds, not algorithms.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::engine::cpu {

/// Seconds by name of the algorithm.
using Timings = std::map<std::string, double>;

/// To be raised when kernels change what they take: keys that name it make earlier measurements be taken again.
constexpr int kKernelRevision = 16;

/// algorithm_timings.txt in runtime::default_cache_folder(); empty where there is none.
[[nodiscard]] std::filesystem::path timing_file();
/// Processor (processor.h), version of oneDNN and instruction set: timings of another machine are not used.
[[nodiscard]] std::string timing_machine();

/// A file of one line a measurement: "v1 <tab> machine <tab> key <tab> name=seconds name=seconds". Lines that are torn,
/// of another version or another machine are passed over, and of several for one key the last counts; a file that
/// cannot be read or written is as none, and one that cannot be written is warned of once a process. Several processes
/// may append at once, and one that dies meanwhile spoils its own line alone. One thread.
class TimingStore {
 public:
  /// Reads the file; an empty path keeps nothing.
  TimingStore(std::filesystem::path file, std::string machine);

  /// What was measured for this key, here or before; nothing, too, where a name of `wanted` is missing.
  [[nodiscard]] std::optional<Timings> find(const std::string& key, const std::vector<std::string>& wanted) const;
  /// Keeps a measurement, in the file as well. Keys and names have no white space but single blanks in keys.
  void put(const std::string& key, const Timings& timings);

 private:
  void take_line(std::string_view line);

  std::filesystem::path file_;
  std::string machine_;
  std::map<std::string, Timings> timings_;
};

}  // namespace roentgen::engine::cpu
