// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fixture for tests that start the program as several ranks.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/e2e/program.h"

namespace roentgen::e2e {

namespace fs = std::filesystem;

/// Contents of a file in /proc whose words are separated by zero bytes. Empty if its process has ended meanwhile.
inline std::string words_of(const fs::path& file) {
  const std::ifstream in(file, std::ios::binary);
  std::ostringstream words;
  words << in.rdbuf();  // throws no error of reading, unlike iterators
  return words.str();
}

/// Selects processes of a group.
enum class Of { Ranks, RanksAndGuards };

/// Processes that train into `run`, in order of their numbers. Leaves out mpirun and the processes that wait for it.
inline std::vector<pid_t> ranks_in(const fs::path& run, Of which = Of::Ranks) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (words_of(entry.path() / "cmdline").find(run.string()) == std::string::npos) continue;
    const std::string variables = words_of(entry.path() / "environ");
    if (variables.find("OMPI_COMM_WORLD_RANK=") == std::string::npos &&
        variables.find("PMI_RANK=") == std::string::npos) {
      continue;
    }
    if (which == Of::Ranks && words_of(entry.path() / "comm") == "roentgen-guard\n") continue;
    found.push_back(std::stoi(name));
  }
  std::ranges::sort(found);
  return found;
}

/// True if no rank that trains into `run`, and no guard of such a rank, is left.
inline bool all_gone(const fs::path& run) { return ranks_in(run, Of::RanksAndGuards).empty(); }

/// Waits until a rank trains into `run`. Returns false if the program ends before.
inline bool wait_for_ranks(Process& process, const fs::path& run) {
  // Searching all processes takes milliseconds, so the search is not repeated at once.
  return process.wait_until([&] { return !ranks_in(run).empty(); }, std::chrono::milliseconds(10));
}

/// Trains a small network on synthetic images, with one rank and with several.
class Launch : public testing::Test {
 protected:
  std::vector<std::string> train(std::string_view run, const std::vector<std::string>& more = {}) {
    if (data_.empty()) data_ = place_.synth("data", 120);
    return plus(place_.train_arguments(data_, run), more);
  }
  std::vector<std::string> ranks(std::string_view run, int count, const std::vector<std::string>& more = {}) {
    return plus(train(run, {"--ranks", std::to_string(count), "--oversubscribe", "--comm-timeout", "20"}), more);
  }

  Workplace place_;
  fs::path data_;
};

}  // namespace roentgen::e2e
