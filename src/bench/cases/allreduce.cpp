// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/allreduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "bench/case_list.h"
#include "bench/harness.h"
#include "bench/options.h"
#include "bench/ranks.h"
#include "core/error.h"
#include "dist/reduce/reducer.h"
#include "dist/reduce/wire.h"

namespace roentgen::bench {
namespace {

constexpr std::int64_t kMostRepeats = 2000;
// Tolerance for averages, relative to the expected value, in float32. Sums of whole numbers below kElements are exact
// in float32, and in 16 bits for few terms. The factor of the mean and the product are each rounded by a relative
// 2^-24; the product in 16 bits by dist::wire_rounding().
constexpr double kTolerance = 0x1p-22;
// Modulus of the test data: element i of rank 0 is i modulo kElements.
constexpr std::size_t kElements = 31;

/// Averaging algorithm (reducer) with a wire format. Without a reducer, the sum of the MPI library.
struct Arm {
  std::string way;
  std::string wire;
  std::unique_ptr<dist::Reducer> reducer;
};

std::vector<Arm> make_arms(dist::Communicator& group, const AllreduceOptions& options) {
  std::vector<std::string> ways = options.ways;
  if (ways.empty()) {
    for (const std::string_view name : dist::reduce_names()) ways.emplace_back(name);
  }
  std::vector<std::string> wires = options.wires;
  if (wires.empty()) wires.assign(dist::kWireNames.begin(), dist::kWireNames.end());
  std::vector<Arm> arms;
  arms.push_back({.way = "mpi", .wire = "f32", .reducer = nullptr});
  for (const std::string& way : ways) {
    for (const std::string& wire : wires) {
      if (way == dist::kNcclReduce) {
        throw ConfigError(error_text("bench.allreduce", "--reduce", "an algorithm that works in CPU memory", way,
                                     "bench scaling --device cuda --reduce nccl"));
      }
      const dist::ReduceOptions reduce{.algorithm = way, .wire = wire};
      arms.push_back({way, wire, std::make_unique<dist::Reducer>(group, reduce)});
    }
  }
  return arms;
}

// Measures the averaging of all buckets of one size.
class Bench {
 public:
  Bench(dist::Communicator& group, const AllreduceOptions& options, std::size_t bytes)
      : group_(group),
        options_(options),
        count_(bytes / sizeof(float)),
        data_(count_ * static_cast<std::size_t>(options.in_flight)),
        pending_(static_cast<std::size_t>(options.in_flight)) {}

  // Returns the rows of the result's key `results`, one for each compared algorithm ("arm").
  [[nodiscard]] Value::Array rows(const std::vector<Arm>& arms) {
    std::vector<std::int64_t> repeats;
    for (const Arm& arm : arms) {
      check(arm);
      repeats.push_back(repeats_of(arm));
    }
    const auto seconds = interleave_ranks(group_, arms.size(), options_.rounds,
                                          [&](std::size_t arm) { return time(arms[arm], repeats[arm]); });
    Value::Array rows;
    for (std::size_t arm = 0; arm < arms.size(); ++arm) rows.push_back(row(arms[arm], summarise(seconds[arm])));
    return rows;
  }

 private:
  // Averages all buckets with the algorithm of `arm`.
  void average(const Arm& arm) {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const dist::Phase phase{"bucket", static_cast<std::int64_t>(i)};
      const std::span<float> data = std::span(data_).subspan(i * count_, count_);
      pending_[i] =
          arm.reducer == nullptr ? group_.all_reduce_sum(data, phase) : arm.reducer->all_reduce_mean(data, phase);
    }
    const auto begin = Clock::now();
    while (!poll_all()) {
      if (Clock::now() - begin > kRankLimit) wait_for_all();
      std::this_thread::yield();
    }
  }

  // Polls all buckets, even after one that is not done yet, as CommThread does. Returns true if all are done.
  [[nodiscard]] bool poll_all() {
    bool are_done = true;
    for (dist::Pending& each : pending_) are_done = each.is_done() && are_done;
    return are_done;
  }

  void wait_for_all() {
    for (dist::Pending& each : pending_) each.wait(std::chrono::milliseconds(0));
  }

  // Returns the mean time of averaging one bucket, in seconds.
  double time(const Arm& arm, std::int64_t repeats) {
    const auto begin = Clock::now();
    for (std::int64_t i = 0; i < repeats; ++i) average(arm);
    return seconds_since(begin) / static_cast<double>(repeats * options_.in_flight);
  }

  // Returns the number of repetitions that last as long as a measurement should; equal on all ranks. Call it after
  // check(), which is the warm-up.
  std::int64_t repeats_of(const Arm& arm) {
    constexpr std::int64_t kTrials = 3;
    group_.barrier({"warm-up"}).wait(kRankLimit);
    const double slowest = std::ranges::max(gather(group_, time(arm, kTrials)));
    std::ranges::fill(data_, 0.0F);  // repeated sums would grow without limit
    return std::clamp(static_cast<std::int64_t>(options_.measurement_s / slowest) / options_.in_flight, std::int64_t{1},
                      kMostRepeats);
  }

  void check(const Arm& arm) {
    const int ranks = group_.size();
    for (std::size_t i = 0; i < data_.size(); ++i) {
      data_[i] = static_cast<float>((group_.rank() % 4 + 1) * static_cast<int>(i % kElements));
    }
    average(arm);
    int sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += rank % 4 + 1;
    const double factor = arm.reducer == nullptr ? sum : static_cast<double>(sum) / ranks;
    const std::optional<std::size_t> wrong = first_wrong(data_, factor, arm.wire);
    if (!wrong) return;
    throw CommError(error_text(
        "bench.allreduce", "average by " + arm.way + ", " + arm.wire,
        fmt::format("{} at element {}", factor * static_cast<double>(*wrong % kElements), *wrong),
        fmt::format("{}", data_[*wrong]), "another --reduce or --wire, and roentgen bench links to test the network"));
  }

  [[nodiscard]] Value row(const Arm& arm, const Summary& seconds) const {
    const std::size_t bytes = count_ * sizeof(float);
    const double ranks = group_.size();
    const double gb_per_s = static_cast<double>(bytes) / seconds.median * 1e-9;
    return Value(Value::Table{{"bytes", bytes},
                              {"way", arm.way},
                              {"wire", arm.wire},
                              {"us", seconds.median * 1e6},
                              {"min_us", seconds.min * 1e6},
                              {"max_us", seconds.max * 1e6},
                              {"gb_per_s", gb_per_s},
                              {"bus_gb_per_s", gb_per_s * 2.0 * (ranks - 1.0) / ranks}});
  }

  dist::Communicator& group_;
  const AllreduceOptions& options_;
  std::size_t count_;
  std::vector<float> data_;
  std::vector<dist::Pending> pending_;
};

}  // namespace

std::optional<std::size_t> first_wrong(std::span<const float> data, double factor, std::string_view wire) {
  const double tolerance = wire == "f32" ? kTolerance : dist::wire_rounding(dist::parse_wire(wire));
  for (std::size_t i = 0; i < data.size(); ++i) {
    const double wanted = factor * static_cast<double>(i % kElements);
    if (!(std::abs(data[i] - wanted) <= tolerance * wanted)) return i;
  }
  return std::nullopt;
}

std::vector<std::size_t> bucket_sizes(std::size_t least_bytes, std::size_t most_bytes) {
  if (least_bytes < sizeof(float) || most_bytes < least_bytes) {
    throw ConfigError(error_text("bench.allreduce", "largest gradient bucket (--most)",
                                 "at least " + std::to_string(std::max(least_bytes, sizeof(float))) + " bytes",
                                 std::to_string(most_bytes)));
  }
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = least_bytes; bytes < most_bytes; bytes *= 4) sizes.push_back(bytes);
  sizes.push_back(most_bytes);
  for (std::size_t& bytes : sizes) bytes -= bytes % sizeof(float);
  return sizes;
}

Value run_allreduce(dist::Communicator& group, const AllreduceOptions& options) {
  require_at_least("rounds", options.rounds, 1);
  require_at_least("in flight", options.in_flight, 1);
  const std::vector<std::size_t> sizes = bucket_sizes(options.least_bytes, options.most_bytes);
  const std::vector<Arm> arms = make_arms(group, options);
  Value result = Value::table();
  result.set("case", "allreduce");
  result.set("kind", "measured");
  add_ranks(result, group);
  result.set("rounds", options.rounds);
  result.set("in_flight", options.in_flight);
  Value::Array rows;
  for (const std::size_t bytes : sizes) {
    for (Value& row : Bench(group, options, bytes).rows(arms)) rows.push_back(std::move(row));
  }
  result.set("results", Value(std::move(rows)));
  add_environment(result);
  return result;
}

namespace {

class AllreduceCase final : public Case {
 public:
  AllreduceCase()
      : Case("averaging gradients over all processes, by size, algorithm and number format; under mpirun",
             "mpirun -np 2 roentgen bench allreduce --most 64") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({ranks_.options({"--reduce", "--wire"}),
                   {rounds_option(rounds_),
                    {.name = "--most",
                     .target = &most_mib_,
                     .doc = "largest gradient bucket to measure, MiB",
                     .range = {1, 2048}},
                    {.name = "--in-flight",
                     .target = &in_flight_,
                     .doc = "number of gradient buckets averaged at the same time",
                     .range = {1, 512}}}});
  }
  [[nodiscard]] Value run(const Host& /*host*/) override {
    const auto group = join_ranks("allreduce");
    Value result = run_allreduce(*group, {.most_bytes = static_cast<std::size_t>(most_mib_) << 20U,
                                          .ways = names_in(ranks_.reduce),
                                          .wires = names_in(ranks_.wire),
                                          .in_flight = in_flight_,
                                          .rounds = rounds_});
    return group->rank() == 0 ? std::move(result) : Value();
  }

 private:
  RankArguments ranks_;
  std::int64_t rounds_ = 3;
  std::int64_t most_mib_ = 512;
  std::int64_t in_flight_ = 1;
};

}  // namespace

std::unique_ptr<Case> make_allreduce_case() { return std::make_unique<AllreduceCase>(); }

}  // namespace roentgen::bench
