// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/reduce/reducer.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/error.h"
#include "dist/reduce/bucket.h"
#include "dist/reduce/reduce_list.h"
#include "dist/reduce/wire.h"

namespace roentgen::dist {
namespace {

using MakeSchedule = Schedule (*)(const Topology&);

MakeSchedule find_way(std::string_view name) {
#define RG_REDUCE_CASE(way) \
  if (name == #way) return make_##way##_schedule;
  RG_REDUCE_LIST(RG_REDUCE_CASE)
#undef RG_REDUCE_CASE
  std::string known = std::string(kAutoReduce) + ", " + std::string(kNcclReduce);
  for (const std::string_view each : reduce_names()) known += ", " + std::string(each);
  throw ConfigError(error_text("dist.reduce", "algorithm", known, name, "one of these names"));
}

Topology topology_of(const Communicator& group, const std::vector<int>& hosts) {
  Topology topology{.rank = group.rank(), .size = group.size(), .hosts = hosts};
  if (hosts.empty()) {
    std::map<std::string_view, int> known;
    for (int rank = 0; rank < group.size(); ++rank) {
      topology.hosts.push_back(known.try_emplace(group.host(rank), static_cast<int>(known.size())).first->second);
    }
  }
  if (std::ssize(topology.hosts) != group.size()) {
    throw ConfigError(error_text("dist.reduce", "host numbers", std::to_string(group.size()) + ", one per rank",
                                 std::to_string(topology.hosts.size()), "the host numbers of the communicator"));
  }
  return topology;
}

// Returns the algorithm that fits the hosts. With `hierarchical`, each bucket crosses the network once per host and the
// host's memory once per rank. A ring avoids the uneven sharing of a network port between streams to several hosts.
std::string_view best_way(const Topology& topology) {
  const std::set<int> hosts(topology.hosts.begin(), topology.hosts.end());
  if (hosts.size() == 1) return "exchange";
  if (std::ssize(hosts) < topology.size) return "hierarchical";
  return hosts.size() == 2 ? "exchange" : "ring";
}

Schedule schedule_of(std::string_view name, const Topology& topology) {
  return find_way(name == kAutoReduce || name == kNcclReduce ? best_way(topology) : name)(topology);
}

// Chooses the message size. In a chain of ranks, the waiting times at each hop add up. TCP sends short messages at
// once; long ones wait until the receiver asks for them. So messages are short, and enough are in flight to keep a link
// busy.
ReducePlan plan_of(Communicator& group, const ReduceOptions& options) {
  constexpr std::size_t kShort = 15'000;  // below 64 KiB
  constexpr std::size_t kWindow = 4;
  const auto ranks = static_cast<std::size_t>(group.size());
  ReducePlan plan{.group = group,
                  .schedule = schedule_of(options.algorithm, topology_of(group, options.hosts)),
                  .wire = parse_wire(options.wire),
                  .segment = std::max<std::size_t>(options.segment, 1),
                  .window = kWindow,
                  .mean_factor = 1.0F / static_cast<float>(ranks)};
  if (!plan.schedule.is_chain) return plan;
  plan.segment = std::min(plan.segment, kShort * ranks);
  plan.window = ReduceBucket::kWindow;
  return plan;
}

}  // namespace

std::vector<std::string_view> reduce_names() {
  std::vector<std::string_view> names;
#define RG_REDUCE_NAME(way) names.emplace_back(#way);
  RG_REDUCE_LIST(RG_REDUCE_NAME)
#undef RG_REDUCE_NAME
  return names;
}

void check_reduce_names(const ReduceOptions& options) {
  const std::string_view name = options.algorithm;
  if (name != kAutoReduce && name != kNcclReduce) static_cast<void>(find_way(name));
  static_cast<void>(parse_wire(options.wire));
}

Reducer::Reducer(Communicator& group, const ReduceOptions& options)
    : plan_(std::make_unique<const ReducePlan>(plan_of(group, options))) {}

Reducer::~Reducer() = default;

bool Reducer::is_free_of_bucket_size() const {
  const Schedule& schedule = plan_->schedule;
  return plan_->group.size() == 1 || (plan_->wire == Wire::F32 && !schedule.is_chain && !schedule.is_communicators_own);
}

Pending Reducer::all_reduce_mean(std::span<float> data, Phase phase) {
  if (plan_->schedule.is_communicators_own && plan_->wire == Wire::F32) {
    return plan_->group.all_reduce_mean(data, phase);
  }
  if (plan_->group.size() == 1) return {};
  auto bucket = std::ranges::find_if(buckets_, [](const auto& each) { return each->is_free(); });
  if (bucket == buckets_.end()) bucket = buckets_.insert(buckets_.end(), std::make_unique<ReduceBucket>());
  (*bucket)->fill(*plan_, data, phase);
  return plan_->group.compose(**bucket, phase);
}

}  // namespace roentgen::dist
