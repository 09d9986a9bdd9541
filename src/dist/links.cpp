// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace roentgen::dist {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMessages = 4;

double median_of(std::vector<double> values) {
  if (values.empty()) return 0.0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0;
}

// Measures the links from this rank to all others, round by round.
class Links {
 public:
  Links(Communicator& group, const LinkTest& test)
      : group_(group),
        test_(test),
        latency_s_(static_cast<std::size_t>(group.size())),
        message_s_(static_cast<std::size_t>(group.size())),
        buffer_(test.message_bytes * kMessages) {}

  void measure_round(const PairRounds& rounds, bool is_warm) {
    std::int64_t number = 0;
    for (const std::vector<RankPair>& pairs : rounds) {
      phase_ = {"link", number++};
      group_.barrier(phase_).wait(test_.limit);
      for (const auto& [low, high] : pairs) {
        if (group_.rank() != low && group_.rank() != high) continue;
        bounce(low, high, is_warm);
        stream(low, high, is_warm);
        stream(high, low, is_warm);
      }
    }
  }

  // Returns the latencies of all ranks: element [from * size + to] in seconds, 0 if not measured.
  [[nodiscard]] std::vector<double> latencies_s() { return gathered(latency_s_, /*takes_median=*/false); }
  [[nodiscard]] std::vector<double> messages_s() { return gathered(message_s_, test_.takes_median); }

 private:
  using Bytes = std::span<std::byte>;
  using Times = std::vector<std::vector<double>>;

  void send(Bytes data, int to) { group_.send(data, {.rank = to}, phase_).wait(test_.limit); }
  void receive(Bytes data, int from) { group_.receive(data, {.rank = from}, phase_).wait(test_.limit); }

  // Sends 8 bytes there and back, several times.
  void bounce(int low, int high, bool is_warm) {
    std::array<std::byte, 8> word{};
    const auto begin = Clock::now();
    for (int i = 0; i < test_.round_trips; ++i) {
      if (group_.rank() == low) {
        send(word, high);
        receive(word, high);
      } else {
        receive(word, low);
        send(word, low);
      }
    }
    if (group_.rank() == low && is_warm && test_.round_trips > 0)
      keep(latency_s_, high, begin, 2.0 * test_.round_trips);
  }

  // Sends several messages at once, then waits for a short answer.
  void stream(int from, int to, bool is_warm) {
    const bool is_sender = group_.rank() == from;
    std::array<std::byte, 8> word{};
    const auto begin = Clock::now();
    std::array<Pending, kMessages> messages;
    for (std::size_t i = 0; i < kMessages; ++i) {
      const Bytes part = Bytes(buffer_).subspan(i * test_.message_bytes, test_.message_bytes);
      messages[i] = is_sender ? group_.send(part, {.rank = to}, phase_) : group_.receive(part, {.rank = from}, phase_);
    }
    for (Pending& message : messages) message.wait(test_.limit);
    if (is_sender) {
      receive(word, to);
    } else {
      send(word, from);
    }
    if (is_sender && is_warm) keep(message_s_, to, begin, kMessages);
  }

  static void keep(Times& times, int other, Clock::time_point begin, double count) {
    const std::chrono::duration<double> all = Clock::now() - begin;
    times[static_cast<std::size_t>(other)].push_back(all.count() / count);
  }

  [[nodiscard]] std::vector<double> gathered(const Times& times, bool takes_median) {
    std::vector<double> own;
    for (const std::vector<double>& each : times) {
      own.push_back(each.empty() ? 0.0 : takes_median ? median_of(each) : std::ranges::min(each));
    }
    std::vector<double> all(own.size() * own.size());
    group_.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)), {"figures of all ranks"})
        .wait(test_.limit);
    return all;
  }

  Communicator& group_;
  const LinkTest& test_;
  Phase phase_{};
  /// Measured times, indexed by the other rank of the link.
  Times latency_s_, message_s_;
  std::vector<std::byte> buffer_;
};

bool is_slow(const Link& link, const UsualLink& usual, double factor) {
  return link.gb_per_s < usual.gb_per_s / factor || link.us > usual.us * factor;
}

// Formats latency and bandwidth: "about 60 us and 117 MB/s".
std::string speed_text(double us, double gb_per_s) {
  return fmt::format("{}{:.3g} MB/s", us > 0.0 ? fmt::format("{:.3g} us and ", us) : "", gb_per_s * 1e3);
}

// Returns the slow links that do not belong to one of the slow ranks.
std::vector<Link> other_links(std::span<const Link> slow, const std::vector<int>& ranks) {
  const auto is_told = [&](int rank) { return std::ranges::count(ranks, rank) > 0; };
  std::vector<Link> others;
  std::ranges::copy_if(slow, std::back_inserter(others),
                       [&](const Link& link) { return !is_told(link.from) && !is_told(link.to); });
  return others;
}

}  // namespace

UsualLink usual_link(std::span<const Link> links, bool is_within_host) {
  std::set<int> ranks;
  for (const Link& link : links) ranks.insert({link.from, link.to});
  std::vector<double> us, gb_per_s;
  for (const int rank : ranks) {
    UsualLink best;
    for (const Link& link : links) {
      if (link.is_within_host != is_within_host || (link.from != rank && link.to != rank)) continue;
      best.us = best.gb_per_s == 0.0 ? link.us : std::min(best.us, link.us);
      best.gb_per_s = std::max(best.gb_per_s, link.gb_per_s);
    }
    if (best.gb_per_s == 0.0) continue;
    us.push_back(best.us);
    gb_per_s.push_back(best.gb_per_s);
  }
  return {.us = median_of(std::move(us)), .gb_per_s = median_of(std::move(gb_per_s))};
}

std::vector<Link> slow_links(std::span<const Link> links, double slow_factor) {
  const UsualLink within = usual_link(links, true);
  const UsualLink between = usual_link(links, false);
  std::vector<Link> slow;
  std::ranges::copy_if(links, std::back_inserter(slow), [&](const Link& link) {
    return is_slow(link, link.is_within_host ? within : between, slow_factor);
  });
  return slow;
}

std::vector<int> slow_ranks(std::span<const Link> links, std::span<const Link> slow) {
  constexpr std::ptrdiff_t kLeast = 4;  // links to at least two other ranks, in both directions
  std::vector<int> ranks;
  for (const Link& first : slow) {
    const int rank = first.from;
    const auto touches = [&](const Link& link) {
      return link.is_within_host == first.is_within_host && (link.from == rank || link.to == rank);
    };
    const auto all = std::ranges::count_if(links, touches);
    if (all >= kLeast && std::ranges::count_if(slow, touches) == all && std::ranges::count(ranks, rank) == 0) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

std::vector<std::string> slow_names(std::span<const std::string> hosts, std::span<const Link> links,
                                    std::span<const Link> slow) {
  const auto host = [&](int rank) { return hosts[static_cast<std::size_t>(rank)]; };
  const std::vector<int> ranks = slow_ranks(links, slow);
  std::vector<std::string> names;
  for (const int rank : ranks) names.push_back(host(rank));
  for (const Link& link : other_links(slow, ranks)) {
    names.push_back(fmt::format("{} to {}", host(link.from), host(link.to)));
  }
  return names;
}

std::vector<std::string> slow_texts(std::string_view room, std::span<const std::string> hosts,
                                    std::span<const Link> links, std::span<const Link> slow) {
  const auto name = [&](int rank) { return fmt::format("rank {} ({})", rank, hosts[static_cast<std::size_t>(rank)]); };
  const std::vector<int> ranks = slow_ranks(links, slow);
  std::vector<std::string> texts;
  for (const int rank : ranks) {
    const auto own = std::ranges::find(slow, rank, &Link::from);
    const UsualLink usual = usual_link(links, own->is_within_host);
    double best = 0.0;
    for (const Link& link : slow) {
      if (link.from == rank || link.to == rank) best = std::max(best, link.gb_per_s);
    }
    texts.push_back(error_text(
        room, name(rank),
        fmt::format("network links as fast as those of other ranks, {}", speed_text(usual.us, usual.gb_per_s)),
        fmt::format("only slow links, {} at best", speed_text(0.0, best)),
        "checking port, cable, switch and other jobs of its host"));
  }
  for (const Link& link : other_links(slow, ranks)) {
    const UsualLink usual = usual_link(links, link.is_within_host);
    texts.push_back(error_text(room, fmt::format("{} to {}", name(link.from), name(link.to)),
                               fmt::format("about {}, as is usual for links {}", speed_text(usual.us, usual.gb_per_s),
                                           link.is_within_host ? "within hosts" : "between hosts"),
                               speed_text(link.us, link.gb_per_s),
                               "checking the ports, cables and switches between them"));
  }
  return texts;
}

PairRounds all_pairs(int ranks) {
  PairRounds rounds;
  for (int low = 0; low < ranks; ++low) {
    for (int high = low + 1; high < ranks; ++high) rounds.push_back({{.low = low, .high = high}});
  }
  return rounds;
}

// Round-robin tournament: for an even number of hosts, the first stays in place and the others rotate, so that each
// meets every other once.
PairRounds host_pairs(std::span<const std::string> hosts) {
  constexpr int kNobody = -1;
  std::vector<int> firsts;
  std::set<std::string_view> known;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (known.insert(hosts[rank]).second) firsts.push_back(static_cast<int>(rank));
  }
  if (firsts.size() < 2) return {};
  if (firsts.size() % 2 == 1) firsts.push_back(kNobody);
  PairRounds rounds(firsts.size() - 1);
  for (std::vector<RankPair>& pairs : rounds) {
    for (std::size_t i = 0; i < firsts.size() / 2; ++i) {
      const auto [low, high] = std::minmax(firsts[i], firsts[firsts.size() - 1 - i]);
      if (low != kNobody) pairs.push_back({.low = low, .high = high});
    }
    std::ranges::rotate(firsts.begin() + 1, firsts.begin() + 2, firsts.end());
  }
  return rounds;
}

std::vector<Link> measure_links(Communicator& group, const PairRounds& pairs, const LinkTest& test) {
  Links links(group, test);
  for (std::int64_t round = -1; round < test.rounds; ++round) links.measure_round(pairs, round >= 0);
  const std::vector<double> latency_s = links.latencies_s();
  const std::vector<double> message_s = links.messages_s();
  const auto at = [ranks = static_cast<std::size_t>(group.size())](int from, int to) {
    return static_cast<std::size_t>(from) * ranks + static_cast<std::size_t>(to);
  };
  std::vector<Link> all;
  for (int from = 0; from < group.size(); ++from) {
    for (int to = 0; to < group.size(); ++to) {
      const double message = message_s[at(from, to)];
      if (message == 0.0) continue;
      all.push_back({.from = from,
                     .to = to,
                     .is_within_host = group.host(from) == group.host(to),
                     .us = latency_s[at(std::min(from, to), std::max(from, to))] * 1e6,
                     .gb_per_s = static_cast<double>(test.message_bytes) / message * 1e-9});
    }
  }
  return all;
}

}  // namespace roentgen::dist
