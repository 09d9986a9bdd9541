// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/machine_speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "bench/harness.h"
#include "core/error.h"
#include "runtime/team.h"

namespace roentgen::bench {
namespace {

constexpr int kRepeats = 5;
/// Steps of the chains, about 5 ms at 3 GHz: shorter times vary by 15% on a quiet virtual machine.
constexpr std::int64_t kSteps = 2'400'000;
/// Chains fill the latency of multiplication and addition, and fit into 16 registers.
constexpr std::size_t kChains = 12;
constexpr std::size_t kThreadBytes = std::size_t{8} << 20U, kLeastBytes = std::size_t{256} << 20U;

/// Register of four floats.
using Lanes = float __attribute__((vector_size(16)));

/// Iterates x = x / 2 + 1, whose limit is 2, from different numbers, and returns the sum of all chains.
template <std::size_t... chain>
double run_chains(std::index_sequence<chain...> /*all*/) {
  std::array<Lanes, sizeof...(chain)> x{(Lanes{} + 0.5F + static_cast<float>(chain))...};
  for (std::int64_t step = 0; step < kSteps; ++step) ((x[chain] = x[chain] * 0.5F + 1.0F), ...);
  const Lanes sum = (x[chain] + ...);
  return static_cast<double>(sum[0]) + sum[1] + sum[2] + sum[3];
}

/// Runs `work` on each thread several times. Returns the time of the slowest thread in the fastest repetition.
double fastest_s(std::vector<double>& thread_s, const std::function<void(std::size_t thread)>& work) {
  double best_s = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    runtime::run_team(static_cast<int>(thread_s.size()), [&](int number) {
      const auto thread = static_cast<std::size_t>(number);
      const auto begin = Clock::now();
      work(thread);
      thread_s[thread] = seconds_since(begin);
    });
    best_s = std::min(best_s, *std::ranges::max_element(thread_s));
  }
  return best_s;
}

[[noreturn]] void refuse(std::string_view what, double expected, double got) {
  throw DeviceError(error_text("bench.machine_speed", what, fmt::to_string(expected), fmt::to_string(got)));
}

}  // namespace

MachineSpeed::MachineSpeed(int threads, int local_ranks)
    : thread_s_(static_cast<std::size_t>(runtime::given_team(threads))),
      sums_(thread_s_.size()),
      from_(std::max(kLeastBytes / static_cast<std::size_t>(local_ranks), kThreadBytes * thread_s_.size()) / 2),
      to_(from_.size()) {
  const std::span<std::byte> bytes = from_.bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 251);
}

SpeedSample MachineSpeed::measure() {
  const double compute_s = fastest_s(
      thread_s_, [&](std::size_t thread) { sums_[thread] = run_chains(std::make_index_sequence<kChains>()); });
  constexpr double kSum = 2.0 * 4 * kChains;
  for (const double sum : sums_) {
    if (sum != kSum) refuse("sum of the chains", kSum, sum);
  }
  const std::size_t share = from_.size() / thread_s_.size();
  const double copy_s = fastest_s(thread_s_, [&](std::size_t thread) {
    std::memcpy(to_.data() + thread * share, from_.data() + thread * share, share);
  });
  for (std::size_t thread = 0; thread < thread_s_.size(); ++thread) {
    const std::size_t last = (thread + 1) * share - 1;
    if (to_.bytes()[last] != from_.bytes()[last]) {
      refuse("copied byte", std::to_integer<int>(from_.bytes()[last]), std::to_integer<int>(to_.bytes()[last]));
    }
  }
  return {.compute_s = compute_s, .copy_s = copy_s};
}

}  // namespace roentgen::bench
