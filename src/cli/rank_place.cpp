// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_place.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <sstream>

#include "core/error.h"
#include "runtime/cpu_quota.h"

namespace roentgen::cli {
namespace {

// Serialises cores as their number, followed by each core.
std::string words_of(const runtime::CoreList& cores) {
  return fmt::format("{} {} ", cores.size(), fmt::join(cores, " "));
}

runtime::CoreList take_cores(std::istream& words) {
  std::size_t count = 0;
  words >> count;
  runtime::CoreList cores;
  for (int core = 0; cores.size() < count && words >> core;) cores.push_back(core);
  return cores;
}

}  // namespace

runtime::CoreList first_threads(const runtime::CoreList& cores) {
  if (cores.empty()) return cores;
  runtime::CoreList all(CPU_SETSIZE);
  std::iota(all.begin(), all.end(), 0);
  runtime::CoreList first;
  for (const runtime::CoreList& core : runtime::by_physical_core(all)) {
    if (std::ranges::find_first_of(core, cores) != core.end()) first.push_back(core.front());
  }
  return first.empty() ? cores : first;
}

int most_threads(std::span<const RankPlace> places) {
  std::set<int> physical;
  double quota = 0.0;
  for (const RankPlace& place : places) {
    physical.insert(place.physical.begin(), place.physical.end());
    quota = std::max(quota, place.quota_cores);
  }
  const auto cores = static_cast<int>(physical.size());
  const auto ranks = static_cast<int>(places.size());
  return std::min(cores, ranks * runtime::within_quota(cores, quota, ranks));
}

std::string bytes_of(const RankPlace& place) {
  const double quota = std::isinf(place.quota_cores) ? 0.0 : place.quota_cores;
  return fmt::format("{} {} {} {} {:d} {}{}{}{}\n{}\n{}\n{}\n{}", place.threads, place.sockets, quota, place.host_units,
                     place.is_far_from_card, words_of(place.cores), words_of(place.physical),
                     words_of(place.communication), words_of(place.input), place.card, place.card_bus, place.why_equal,
                     fmt::join(place.visible_cards, "\n"));
}

RankPlace parse_rank_place(const std::string& bytes) {
  std::istringstream words(bytes);
  RankPlace place;
  double quota = 0.0;
  words >> place.threads >> place.sockets >> quota >> place.host_units >> place.is_far_from_card;
  if (quota > 0.0) place.quota_cores = quota;
  place.cores = take_cores(words);
  place.physical = take_cores(words);
  place.communication = take_cores(words);
  place.input = take_cores(words);
  std::string line;
  std::getline(words, line);  // the rest of the numbers
  std::getline(words, place.card);
  std::getline(words, place.card_bus);
  std::getline(words, place.why_equal);
  while (std::getline(words, line)) place.visible_cards.push_back(line);
  return place;
}

std::string text_of(const RankPlace& place) {
  runtime::CoreList computing;
  std::ranges::set_difference(place.cores, place.input, std::back_inserter(computing));
  std::string text = (place.card.empty() ? "" : place.card + ", ") + "cores " + runtime::text_of(computing);
  if (!place.input.empty()) text += ", input " + runtime::text_of(place.input);
  if (!place.communication.empty()) text += ", communication " + runtime::text_of(place.communication);
  return text;
}

std::string version_error(std::span<const std::string> versions, std::span<const std::string> hosts) {
  const auto other = std::ranges::find_if(versions, [&](const std::string& own) { return own != versions.front(); });
  if (other == versions.end()) return {};
  const auto rank = static_cast<std::size_t>(other - versions.begin());
  return error_text("cli.launch", fmt::format("program of rank {} ({})", rank, hosts[rank]),
                    fmt::format("version {}, as on rank 0 ({})", versions.front(), hosts.front()), *other,
                    "installing the same program on all hosts");
}

}  // namespace roentgen::cli
