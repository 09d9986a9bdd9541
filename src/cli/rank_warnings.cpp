// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_warnings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/log.h"
#include "core/plural.h"

namespace roentgen::cli {
namespace {

/// Names for a warning. Its text contains the first few names and the number of the others.
class Names {
 public:
  void add(std::string name) {
    if (++count_ <= kShown) names_.push_back(std::move(name));
  }
  [[nodiscard]] bool is_empty() const { return names_.empty(); }
  [[nodiscard]] std::string text() const {
    return fmt::format("{}{}", fmt::join(names_, ", "),
                       count_ > kShown ? fmt::format(" and {} more", count_ - kShown) : "");
  }

 private:
  static constexpr std::size_t kShown = 4;
  std::vector<std::string> names_;
  std::size_t count_ = 0;
};

}  // namespace

std::string socket_warning(const PlacedRanks& ranks, const RankLayout& layout) {
  Names names;
  for (std::size_t rank = 0; rank < ranks.places.size(); ++rank) {
    const RankPlace& place = ranks.places[rank];
    if (place.sockets < 2) continue;
    names.add(fmt::format("rank {} on {} (cores {}, {} sockets)", rank, ranks.hosts[rank],
                          runtime::text_of(place.cores), place.sockets));
  }
  if (names.is_empty()) return {};
  return fmt::format("cores of several sockets, so access to memory of another socket is slower: {}{}", names.text(),
                     layout.unit ? "" : "; --ppn socket starts a rank per socket");
}

std::string unit_warning(const PlacedRanks& ranks, const RankLayout& layout) {
  if (!layout.unit) return {};
  std::map<std::string, std::int64_t> counts;
  for (const std::string& host : ranks.hosts) ++counts[host];
  const bool is_socket = layout.unit == runtime::CoreUnit::Socket;
  Names names;
  for (std::size_t rank = 0; rank < ranks.places.size(); ++rank) {
    const auto found = counts.find(ranks.hosts[rank]);
    if (found == counts.end()) continue;  // an earlier rank of the host
    const int units = ranks.places[rank].host_units;
    if (units > 0 && units != found->second) {
      names.add(fmt::format("{} has {} but {}", found->first, counted(units, is_socket ? "socket" : "NUMA node"),
                            counted(found->second, "rank")));
    }
    counts.erase(found);
  }
  if (names.is_empty()) return {};
  return fmt::format("--ppn {}: {}; --hosts a:2,b:4 without --ppn sets the number of ranks of each host",
                     is_socket ? "socket" : "numa", names.text());
}

std::string idle_card_warning(const PlacedRanks& ranks) {
  struct Cards {
    std::set<std::string> used, visible;
  };
  std::map<std::string, Cards> hosts;
  for (std::size_t rank = 0; rank < ranks.places.size(); ++rank) {
    const RankPlace& place = ranks.places[rank];
    if (place.visible_cards.empty()) continue;
    Cards& cards = hosts[ranks.hosts[rank]];
    cards.used.insert(place.card_bus);
    cards.visible.insert(place.visible_cards.begin(), place.visible_cards.end());
  }
  Names names;
  for (const auto& [host, cards] : hosts) {
    if (cards.used.size() >= cards.visible.size()) continue;
    names.add(fmt::format("{} of {} GPUs of {}", cards.used.size(), cards.visible.size(), host));
  }
  if (names.is_empty()) return {};
  return fmt::format("only {} are used; --ranks auto, or more processes of mpirun or srun, use a rank per GPU",
                     names.text());
}

std::string far_card_warning(const PlacedRanks& ranks) {
  Names names;
  for (std::size_t rank = 0; rank < ranks.places.size(); ++rank) {
    const RankPlace& place = ranks.places[rank];
    if (place.is_far_from_card) names.add(fmt::format("rank {} on {} ({})", rank, ranks.hosts[rank], text_of(place)));
  }
  if (names.is_empty()) return {};
  return fmt::format(
      "no core near the GPU, so copies are slower: {}; --ranks auto binds ranks near their GPUs; otherwise use srun "
      "--cpu-bind or mpirun --map-by",
      names.text());
}

std::string equal_cores_note(const PlacedRanks& ranks) {
  std::map<std::string, std::string> reasons;  // of each host
  for (std::size_t rank = 0; rank < ranks.places.size(); ++rank) {
    const std::string& why = ranks.places[rank].why_equal;
    if (!why.empty()) reasons.try_emplace(ranks.hosts[rank], why);
  }
  Names names;
  for (const auto& [host, why] : reasons) names.add(fmt::format("{} ({})", host, why));
  if (names.is_empty()) return {};
  return "cores are divided equally, not by GPU: " + names.text();
}

void log_warnings(const PlacedRanks& ranks, const RankLayout& layout) {
  if (const std::string note = equal_cores_note(ranks); !note.empty()) log::info(note);
  for (const std::string& warning : {socket_warning(ranks, layout), unit_warning(ranks, layout),
                                     idle_card_warning(ranks), far_card_warning(ranks)}) {
    if (!warning.empty()) log::warning(warning);
  }
}

}  // namespace roentgen::cli
