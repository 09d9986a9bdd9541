// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/links.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "bench/harness.h"
#include "bench/ranks.h"
#include "bench/rounds.h"
#include "core/error.h"

namespace roentgen::bench {
namespace {

constexpr int kRoundTrips = 100;
constexpr std::size_t kMessages = 4;

// Times from this rank to all others, round by round.
class Links {
 public:
  Links(dist::Communicator& group, const LinksOptions& options)
      : group_(group),
        options_(options),
        latency_s_(static_cast<std::size_t>(group.size())),
        message_s_(static_cast<std::size_t>(group.size())),
        buffer_(options.message_bytes * kMessages) {}

  void measure_round(bool is_warm) {
    std::int64_t pair = 0;
    for (int low = 0; low < group_.size(); ++low) {
      for (int high = low + 1; high < group_.size(); ++high, ++pair) {
        phase_ = {"link", pair};
        group_.barrier(phase_).wait(kRankLimit);
        bounce(low, high, is_warm);
        stream(low, high, is_warm);
        stream(high, low, is_warm);
      }
    }
  }

  // Of all ranks: [from * size + to].
  [[nodiscard]] std::vector<double> latencies_s() {
    return gathered(latency_s_, [](const Summary& times) { return times.min; });
  }
  [[nodiscard]] std::vector<double> messages_s() {
    return gathered(message_s_, [](const Summary& times) { return times.median; });
  }

 private:
  using Bytes = std::span<std::byte>;
  using Times = std::vector<std::vector<double>>;

  void send(Bytes data, int to) { group_.send(data, {.rank = to}, phase_).wait(kRankLimit); }
  void receive(Bytes data, int from) { group_.receive(data, {.rank = from}, phase_).wait(kRankLimit); }

  // 8 bytes there and back.
  void bounce(int low, int high, bool is_warm) {
    std::array<std::byte, 8> word{};
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kRoundTrips; ++i) {
      if (group_.rank() == low) {
        send(word, high);
        receive(word, high);
      } else if (group_.rank() == high) {
        receive(word, low);
        send(word, low);
      }
    }
    if (group_.rank() == low && is_warm) keep(latency_s_, high, begin, 2.0 * kRoundTrips);
  }

  // Several messages at once, and a word when all have come.
  void stream(int from, int to, bool is_warm) {
    const bool is_sender = group_.rank() == from;
    if (!is_sender && group_.rank() != to) return;
    std::array<std::byte, 8> word{};
    const auto begin = std::chrono::steady_clock::now();
    std::array<dist::Pending, kMessages> messages;
    for (std::size_t i = 0; i < kMessages; ++i) {
      const Bytes part = Bytes(buffer_).subspan(i * options_.message_bytes, options_.message_bytes);
      messages[i] = is_sender ? group_.send(part, {.rank = to}, phase_) : group_.receive(part, {.rank = from}, phase_);
    }
    for (dist::Pending& message : messages) message.wait(kRankLimit);
    if (is_sender) {
      receive(word, to);
    } else {
      send(word, from);
    }
    if (is_sender && is_warm) keep(message_s_, to, begin, kMessages);
  }

  static void keep(Times& times, int other, std::chrono::steady_clock::time_point begin, double count) {
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
    times[static_cast<std::size_t>(other)].push_back(all.count() / count);
  }

  template <typename Figure>
  [[nodiscard]] std::vector<double> gathered(const Times& times, const Figure& figure) {
    std::vector<double> own;
    for (const auto& each : times) own.push_back(each.empty() ? 0.0 : figure(summarise(each)));
    std::vector<double> all(own.size() * own.size());
    group_.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)), {"figures of all ranks"})
        .wait(kRankLimit);
    return all;
  }

  dist::Communicator& group_;
  const LinksOptions& options_;
  dist::Phase phase_{};
  /// By the rank at the other end.
  Times latency_s_, message_s_;
  std::vector<std::byte> buffer_;
};

std::vector<Link> measure(dist::Communicator& group, const LinksOptions& options) {
  Links links(group, options);
  for (std::int64_t round = -1; round < options.rounds; ++round) links.measure_round(round >= 0);
  const std::vector<double> latency_s = links.latencies_s();
  const std::vector<double> message_s = links.messages_s();
  const auto at = [ranks = static_cast<std::size_t>(group.size())](int from, int to) {
    return static_cast<std::size_t>(from) * ranks + static_cast<std::size_t>(to);
  };
  std::vector<Link> all;
  for (int from = 0; from < group.size(); ++from) {
    for (int to = 0; to < group.size(); ++to) {
      if (from == to) continue;
      all.push_back({.from = from,
                     .to = to,
                     .is_within_host = group.host(from) == group.host(to),
                     .us = latency_s[at(std::min(from, to), std::max(from, to))] * 1e6,
                     .gb_per_s = static_cast<double>(options.message_bytes) / message_s[at(from, to)] * 1e-9});
    }
  }
  return all;
}

bool is_slow(const Link& link, const UsualLink& usual, double factor) {
  return link.gb_per_s < usual.gb_per_s / factor || link.us > usual.us * factor;
}

Value matrix(std::span<const Link> links, int ranks, double Link::*figure) {
  Value rows = Value::array();
  for (int from = 0; from < ranks; ++from) {
    Value row = Value::table();
    row.set("from", fmt::format("rank {}", from));
    for (int to = 0; to < ranks; ++to) {
      const auto link =
          std::ranges::find_if(links, [&](const Link& each) { return each.from == from && each.to == to; });
      row.set(fmt::format("to {}", to), link == links.end() ? Value() : Value((*link).*figure));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// "[bench.links] rank 1 (a) to rank 2 (b): expected about 3.1 us and 0.9 GB/s, ..., got ...".
std::string slow_text(const dist::Communicator& group, const Link& link, const UsualLink& usual) {
  return error_text(
      "bench.links",
      fmt::format("rank {} ({}) to rank {} ({})", link.from, group.host(link.from), link.to, group.host(link.to)),
      fmt::format("about {:.3g} us and {:.3g} GB/s, the medians {}", usual.us, usual.gb_per_s,
                  link.is_within_host ? "within hosts" : "between hosts"),
      fmt::format("{:.3g} us and {:.3g} GB/s", link.us, link.gb_per_s));
}

// A line for what a slow rank's links have in common, and for each other slow link.
void warn(Value& result, const dist::Communicator& group, std::span<const Link> links, std::span<const Link> slow) {
  const std::vector<int> ranks = slow_ranks(links, slow);
  const auto is_told = [&](int rank) { return std::ranges::count(ranks, rank) > 0; };
  Value warnings = result.find("warnings") == nullptr ? Value::array() : result.at("warnings");
  for (const int rank : ranks) {
    warnings.push_back(error_text("bench.links", fmt::format("rank {} ({})", rank, group.host(rank)),
                                  "links as fast as those of the others", "all of them slow",
                                  "its port, cable, switch or neighbours on the host"));
  }
  for (const Link& link : slow) {
    if (is_told(link.from) || is_told(link.to)) continue;
    warnings.push_back(slow_text(group, link, usual_link(links, link.is_within_host)));
  }
  if (!warnings.as_array().empty()) result.set("warnings", std::move(warnings));
}

void add_links(Value& result, std::span<const Link> links, const std::vector<Link>& slow) {
  Value rows = Value::array();
  for (const Link& link : links) {
    const bool is_found =
        std::ranges::any_of(slow, [&](const Link& each) { return each.from == link.from && each.to == link.to; });
    rows.push_back(Value::Table{{"from", link.from},
                                {"to", link.to},
                                {"within_host", link.is_within_host},
                                {"us", link.us},
                                {"gb_per_s", link.gb_per_s},
                                {"slow", is_found}});
  }
  result.set("links", std::move(rows));
  result.set("slow", slow.size());
}

}  // namespace

UsualLink usual_link(std::span<const Link> links, bool is_within_host) {
  std::vector<Link> kind;
  std::ranges::copy_if(links, std::back_inserter(kind),
                       [&](const Link& link) { return link.is_within_host == is_within_host; });
  if (kind.empty()) return {};
  return {.us = median_of(kind, [](const Link& link) { return link.us; }),
          .gb_per_s = median_of(kind, [](const Link& link) { return link.gb_per_s; })};
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
  constexpr std::ptrdiff_t kLeast = 4;  // two others, both ways
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

Value run_links(dist::Communicator& group, const LinksOptions& options) {
  require_at_least("rounds", options.rounds, 1);
  require_at_least("message bytes", static_cast<std::int64_t>(options.message_bytes), 1);
  if (!(options.slow_factor > 1.0)) {
    throw ConfigError(error_text("bench.links", "slow factor", "above 1", fmt::format("{}", options.slow_factor)));
  }
  Value result = Value::table();
  result.set("case", "links");
  result.set("kind", "measured");
  add_ranks(result, group);
  result.set("rounds", options.rounds);
  result.set("message_bytes", options.message_bytes);
  result.set("slow_factor", options.slow_factor);
  const std::vector<Link> links = measure(group, options);
  result.set("latency_us", matrix(links, group.size(), &Link::us));
  result.set("gb_per_s", matrix(links, group.size(), &Link::gb_per_s));
  for (const bool is_within_host : {true, false}) {
    const UsualLink usual = usual_link(links, is_within_host);
    if (usual.us == 0.0) continue;
    result.set(is_within_host ? "within_host" : "between_hosts",
               Value(Value::Table{{"us", usual.us}, {"gb_per_s", usual.gb_per_s}}));
  }
  const std::vector<Link> slow = slow_links(links, options.slow_factor);
  add_links(result, links, slow);
  warn(result, group, links, slow);
  add_environment(result);
  return result;
}

}  // namespace roentgen::bench
