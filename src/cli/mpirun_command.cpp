// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/mpirun_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "core/error.h"
#include "dist/mpi_choice.h"

namespace roentgen::cli {
namespace {

// True for environment variables that ranks on other hosts need: they affect a rank's results, file locations,
// libraries or network.
bool goes_along(std::string_view variable) {
  constexpr std::string_view kFamilies[] = {"DNNL_", "FI_",  "GOMP_",   "KMP_",      "MALLOC_",
                                            "NCCL_", "OMP_", "ONEDNN_", "ROENTGEN_", "UCX_"};
  constexpr std::string_view kNames[] = {"LD_LIBRARY_PATH=", "TMPDIR=", "XDG_CACHE_HOME="};
  const auto begins_it = [&](std::string_view text) { return variable.starts_with(text); };
  return std::ranges::any_of(kFamilies, begins_it) || std::ranges::any_of(kNames, begins_it);
}

}  // namespace

void require_hosts(const std::string& hosts) {
  const auto refuse = [](std::string_view expected, const std::string& got) {
    throw ConfigError(error_text("cli.launch", "--hosts", expected, got, "--hosts a:2,b:2"));
  };
  constexpr std::string_view kNames = "names, each with its number of ranks";
  if (hosts.empty() || hosts.ends_with(',')) refuse(kNames, hosts);
  std::istringstream words(hosts);
  for (std::string word; std::getline(words, word, ',');) {
    constexpr std::size_t kMostDigits = 5;
    const std::size_t colon = std::min(word.find(':'), word.size());
    if (colon == 0 || word.find_first_of(" ;\t") != std::string::npos) refuse(kNames, hosts);
    const std::string count = colon == word.size() ? "1" : word.substr(colon + 1);
    const bool is_number = !count.empty() && count.size() <= kMostDigits && count.front() != '0' &&
                           count.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) refuse(fmt::format("a number of ranks from 1 to 99999 for {}", word.substr(0, colon)), word);
  }
}

std::string mpirun_program(std::string_view mpi, std::string_view path) {
  const std::optional<dist::Mpirun> found = dist::find_mpirun(path);
  return !found || found->family == mpi ? "mpirun" : "mpirun." + std::string(mpi);
}

std::vector<std::string> mpirun_command(const GroupStart& start, const std::vector<std::string>& command) {
  const std::string ours = std::string(kStartedByUs) + "=1";
  std::vector<std::string> words;
  constexpr std::string_view kPath = "PATH=";
  std::string mpirun = mpirun_program(start.mpi, "");
  for (const std::string& variable : start.environment) {
    if (variable.starts_with(kPath)) mpirun = mpirun_program(start.mpi, variable.substr(kPath.size()));
  }
  // Turn off mpirun's own core binding and checks: the ranks bind themselves (take_place) and check their number
  // (check_places).
  if (start.mpi == dist::kMpich) {
    // MPICH's mpirun passes all variables by itself.
    words = {mpirun, "-n", fmt::to_string(start.ranks), "-bind-to", "none", "-genv", kStartedByUs, "1"};
    if (!start.hosts.empty()) words.insert(words.end(), {"-hosts", start.hosts});
  } else {
    words = {mpirun, "-np", fmt::to_string(start.ranks), "--bind-to", "none", "--oversubscribe", "-x", ours};
    if (start.is_root) words.emplace_back("--allow-run-as-root");
    if (start.is_killed_at_once) words.insert(words.end(), {"--mca", "odls_base_sigkill_timeout", "0"});
    if (!start.hosts.empty()) {
      words.insert(words.end(), {"--host", start.hosts});
      for (const std::string& variable : start.environment) {
        const std::string name = variable.substr(0, variable.find('='));
        if (goes_along(variable) && name != kStartedByUs) words.insert(words.end(), {"-x", name});
      }
    }
  }
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

std::vector<std::string> without_options(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& options) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const auto is_word = [&](const std::string& option) { return word == option; };
    const auto begins_word = [&](const std::string& option) { return word.starts_with(option + "="); };
    if (std::ranges::any_of(options, is_word)) {
      ++i;
    } else if (std::ranges::none_of(options, begins_word)) {
      rest.push_back(word);
    }
  }
  return rest;
}

}  // namespace roentgen::cli
