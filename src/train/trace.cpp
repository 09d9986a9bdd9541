// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "core/log.h"
#include "dist/comm_thread.h"

namespace roentgen::train {
namespace {

constexpr dist::Phase kPhase{.name = "trace"};
constexpr const char* kTraining = "training";
constexpr const char* kCommunication = "communication";

}  // namespace

std::vector<int> traced_ranks(int ranks, std::int64_t most) {
  const auto count = static_cast<int>(std::min<std::int64_t>(ranks, most));
  std::vector<int> traced;
  for (int i = 0; i < count; ++i) {
    traced.push_back(static_cast<int>(static_cast<std::int64_t>(i) * ranks / count));
  }
  return traced;
}

bool is_traced(std::int64_t update, const TraceOptions& options) {
  return update < options.first || (update + 1) % options.every == 0;
}

std::int64_t RankTrace::to_first(std::int64_t ns) const {
  const std::int64_t moved_ns = end.offset.offset_ns - begin.offset.offset_ns;
  const bool is_even = std::abs(moved_ns) <= begin.offset.error_ns + end.offset.error_ns || end.at_ns <= begin.at_ns;
  if (is_even) {
    const bool is_first_better = begin.offset.error_ns <= end.offset.error_ns;
    return ns - (is_first_better ? begin : end).offset.offset_ns;
  }
  const double share = static_cast<double>(ns - begin.at_ns) / static_cast<double>(end.at_ns - begin.at_ns);
  return ns - begin.offset.offset_ns - std::llround(share * static_cast<double>(moved_ns));
}

namespace {

std::string numbered(const std::string& name, std::int64_t index) {
  return index < 0 ? name : fmt::format("{} {}", name, index);
}

/// Distributes the collectives of a process over display threads, so that those on one thread do not overlap.
class Lanes {
 public:
  /// Returns the thread for a collective.
  /// @param begin_ns not before the begin of the previous collective
  int take(std::int64_t begin_ns, std::int64_t end_ns) {
    auto lane = std::ranges::find_if(ends_, [&](std::int64_t end) { return end <= begin_ns; });
    if (lane == ends_.end()) lane = ends_.insert(ends_.end(), 0);
    *lane = end_ns;
    return static_cast<int>(lane - ends_.begin()) + 1;
  }
  [[nodiscard]] int count() const { return static_cast<int>(ends_.size()); }

 private:
  std::vector<std::int64_t> ends_;
};

Value about_clock(const RankTrace& rank) {
  return Value::Table{{"rank", rank.rank},
                      {"host", rank.host},
                      {"offset_ns", rank.begin.offset.offset_ns},
                      {"error_ns", rank.begin.offset.error_ns},
                      {"offset_at_end_ns", rank.end.offset.offset_ns},
                      {"error_at_end_ns", rank.end.offset.error_ns},
                      {"dropped_spans", rank.dropped}};
}

/// Returns the time at which the last rank started each collective, by rank 0's clock.
std::map<std::int64_t, std::int64_t> last_starts(const std::vector<RankTrace>& ranks) {
  std::map<std::int64_t, std::int64_t> last;
  for (const RankTrace& rank : ranks) {
    for (const Span& span : rank.spans) {
      if (!span.is_collective()) continue;
      const std::int64_t started = rank.to_first(span.started_ns);
      const auto [entry, is_new] = last.emplace(span.ticket, started);
      if (!is_new) entry->second = std::max(entry->second, started);
    }
  }
  return last;
}

class Merging {
 public:
  Merging(const std::vector<RankTrace>& ranks, TraceParts& parts)
      : last_starts_(last_starts(ranks)), origin_ns_(std::numeric_limits<std::int64_t>::max()), parts_(parts) {
    for (const RankTrace& rank : ranks) {
      for (const Span& span : rank.spans) origin_ns_ = std::min(origin_ns_, rank.to_first(span.begin_ns));
    }
  }

  void add(const RankTrace& rank) {
    parts_.names.push_back({.process = rank.rank, .name = fmt::format("rank {} ({})", rank.rank, rank.host)});
    parts_.names.push_back({.process = rank.rank, .thread = 0, .name = kTraining});
    std::vector<std::size_t> order(rank.spans.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return rank.spans[i].begin_ns; });
    Lanes lanes;
    for (const std::size_t i : order) {
      const Span& span = rank.spans[i];
      const std::string name = numbered(rank.names[i], span.index);
      if (span.is_collective()) {
        add_collective(rank, span, name, lanes.take(span.begin_ns, span.end_ns));
      } else {
        push(rank, {.name = name, .category = kTraining}, span.begin_ns, span.end_ns);
      }
    }
    for (int lane = 1; lane <= lanes.count(); ++lane) {
      parts_.names.push_back({.process = rank.rank, .thread = lane, .name = fmt::format("collectives {}", lane)});
    }
  }

 private:
  void add_collective(const RankTrace& rank, const Span& span, const std::string& name, int lane) {
    push(rank,
         {.name = name,
          .category = kCommunication,
          .thread = lane,
          .arguments = Value::Table{{"bytes", span.bytes}, {"ticket", span.ticket}}},
         span.begin_ns, span.end_ns);
    // Time at which the last rank started this collective, by this rank's clock. It is limited to the span, because
    // converted clocks are off by microseconds.
    const std::int64_t late_ns = last_starts_.at(span.ticket) - rank.to_first(span.started_ns);
    const std::int64_t met_ns = std::min(span.started_ns + std::max<std::int64_t>(late_ns, 0), span.end_ns);
    const auto part = [&](const char* what, std::int64_t begin_ns, std::int64_t end_ns) {
      push(rank, {.name = what, .category = kCommunication, .thread = lane}, begin_ns, end_ns);
    };
    part("QUEUE", span.begin_ns, span.started_ns);
    part("WAIT_FOR_OTHER_TENSOR_DATA", span.started_ns, met_ns);
    part("MPI_ALLREDUCE", met_ns, span.end_ns);
  }

  void push(const RankTrace& rank, io::TraceEvent event, std::int64_t begin_ns, std::int64_t end_ns) {
    event.process = rank.rank;
    event.begin_ns = rank.to_first(begin_ns) - origin_ns_;
    event.end_ns = rank.to_first(end_ns) - origin_ns_;
    parts_.events.push_back(std::move(event));
  }

  const std::map<std::int64_t, std::int64_t> last_starts_;
  std::int64_t origin_ns_;
  TraceParts& parts_;
};

}  // namespace

TraceParts merge_traces(const std::vector<RankTrace>& ranks) {
  TraceParts parts;
  Merging merging(ranks, parts);
  Value clocks = Value::array();
  for (const RankTrace& rank : ranks) {
    merging.add(rank);
    clocks.push_back(about_clock(rank));
  }
  parts.about = Value::Table{{"clock", "steady, of rank 0; those of others less the offset stated, within its error"},
                             {"clocks", std::move(clocks)}};
  return parts;
}

void write_trace(const std::filesystem::path& path, const std::vector<RankTrace>& ranks, const Value& about) {
  TraceParts parts = merge_traces(ranks);
  for (const auto& [key, value] : about.as_table()) parts.about.set(key, value);
  io::write_chrome_trace(path, parts.names, parts.events, parts.about);
}

Tracer::Tracer(const TraceOptions& options, dist::CommThread* group)
    : options_(options),
      ranks_(group),
      traced_(traced_ranks(ranks_.size(), options.most_ranks)),
      is_traced_(std::ranges::find(traced_, ranks_.rank()) != traced_.end()),
      begin_(read_clocks()) {
  if (group != nullptr) group->trace(timeline());
}

Tracer::~Tracer() {
  if (ranks_.group() != nullptr) ranks_.group()->trace(nullptr);
  if (!kept_ || std::uncaught_exceptions() == exceptions_) return;
  try {
    merge_trace_parts(kept_->trace_parts(), kept_->trace());
  } catch (const std::exception& error) {
    log::warning(error.what());
  }
}

std::vector<RankTrace> Tracer::clocks() const {
  std::vector<RankTrace> clocks;
  for (std::size_t i = 0; i < begin_.size(); ++i) {
    clocks.push_back({.rank = traced_[i], .host = ranks_.host(traced_[i]), .begin = begin_[i], .end = begin_[i]});
  }
  return clocks;
}

Value Tracer::about() const {
  return Value::Table{{"ranks", ranks_.size()},
                      {"traced_ranks", std::ssize(traced_)},
                      {"traced_updates", fmt::format("the first {}, then every {}th", options_.first, options_.every)},
                      {"is_whole", true}};
}

void Tracer::keep_in(const RunFolder& folder) {
  if (ranks_.is_first()) {
    begin_trace_parts(folder.trace_parts(), about(), clocks());
    kept_ = folder;
  }
  static_cast<void>(ranks_.broadcast("", kPhase));  // barrier: after it, the folder exists on all ranks
  if (!is_traced_) return;
  part_.emplace(folder.trace_parts(), ranks_.rank());
  timeline_.also_to([this](const Span& span) { part_->add(span); });
}

std::vector<ClockReading> Tracer::read_clocks() const {
  if (ranks_.group() == nullptr) return {ClockReading{.at_ns = Timeline::now_ns()}};
  std::vector<ClockReading> readings;
  ranks_.group()->call([&](dist::Communicator& communicator) {
    for (const dist::ClockOffset& offset :
         dist::measure_clock_offsets(communicator, traced_, Timeline::now_ns, ranks_.group()->limit())) {
      readings.push_back({.at_ns = Timeline::now_ns() + offset.offset_ns, .offset = offset});
    }
  });
  return readings;
}

void Tracer::begin_update() { timeline_.record(train::is_traced(update_++, options_)); }

void Tracer::end_update() { timeline_.record(true); }

void Tracer::write(const std::filesystem::path& path) {
  const std::vector<ClockReading> end = read_clocks();
  timeline_.also_to(nullptr);
  part_.reset();
  const std::string own = to_bytes({.spans = timeline_.spans(), .dropped = timeline_.dropped()});
  std::vector<RankTrace> traces = clocks();
  for (std::size_t i = 0; i < traced_.size(); ++i) {
    const std::string bytes = ranks_.broadcast(traced_[i] == ranks_.rank() ? own : "", kPhase, traced_[i]);
    if (!ranks_.is_first()) continue;
    RankTrace spans = rank_trace_from(bytes);
    traces[i].spans = std::move(spans.spans);
    traces[i].names = std::move(spans.names);
    traces[i].dropped = spans.dropped;
    traces[i].end = end[i];
  }
  if (!ranks_.is_first()) return;
  write_trace(path, traces, about());
  std::error_code ignored;  // the next start removes the remaining files
  if (kept_) std::filesystem::remove_all(kept_->trace_parts(), ignored);
  kept_.reset();
}

}  // namespace roentgen::train
