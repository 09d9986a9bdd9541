// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/link_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/log.h"
#include "dist/comm_thread.h"

namespace roentgen::train {
namespace {

constexpr std::int64_t kFirstTest = 10;
constexpr std::int64_t kUpdatesToTest = 100;
constexpr double kSlowFactor = 2.0;

}  // namespace

std::vector<dist::Link> LinkWatch::measure(dist::Communicator& group, std::chrono::milliseconds limit) {
  std::vector<std::string> hosts;
  for (int rank = 0; rank < group.size(); ++rank) hosts.emplace_back(group.host(rank));
  return dist::measure_links(
      group, dist::host_pairs(hosts),
      {.message_bytes = std::size_t{512} << 10U, .round_trips = 0, .rounds = 3, .takes_median = false, .limit = limit});
}

LinkWatch::LinkWatch(const Ranks& ranks, Measure measure)
    : ranks_(ranks),
      measure_(std::move(measure)),
      has_links_(ranks.size() > 1 && !dist::host_pairs(ranks.group()->hosts()).empty()) {}

void LinkWatch::look(const StepRecord& step, const std::vector<Observer*>& observers) {
  if (!has_links_) return;
  seconds_ += step.seconds;
  waited_s_ += step.comm_exposed_seconds.value_or(0.0);
  ++updates_;
  if (updates_ != kFirstTest && updates_ % kUpdatesToTest != 0) return;
  if (!waits_for_network()) return;
  std::vector<dist::Link> links;
  ranks_.group()->call([&](dist::Communicator& group) { links = measure_(group, ranks_.group()->limit()); });
  const std::vector<dist::Link> slow = dist::slow_links(links, kSlowFactor);
  const LinksRecord record{.step = step.step,
                           .usual_mb_per_s = dist::usual_link(links, false).gb_per_s * 1e3,
                           .slow = slow,
                           .names = dist::slow_names(ranks_.group()->hosts(), links, slow)};
  warn(record, links, slow);
  for (Observer* observer : observers) observer->on_links(record);
}

// Compares the mean wait of all ranks since the last call with the limit.
bool LinkWatch::waits_for_network() {
  std::array<float, 2> times{static_cast<float>(waited_s_), static_cast<float>(seconds_)};
  seconds_ = waited_s_ = 0.0;
  ranks_.average(times, {.name = "link check"});
  return bound_by(0.0, static_cast<double>(times[1]), static_cast<double>(times[0])) == "communication-bound";
}

void LinkWatch::warn(const LinksRecord& record, const std::vector<dist::Link>& links,
                     const std::vector<dist::Link>& slow) {
  if (record.names == warned_of_) return;
  for (const std::string& text : dist::slow_texts("train.links", ranks_.group()->hosts(), links, slow)) {
    log::warning(text);
  }
  if (record.names.empty()) {
    log::info(fmt::format("all links between hosts are equally fast again, {:.3g} MB/s", record.usual_mb_per_s));
  }
  warned_of_ = record.names;
}

}  // namespace roentgen::train
