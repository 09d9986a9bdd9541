// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <string>

#include "bench/harness.h"
#include "bench/profile.h"
#include "bench/rounds.h"
#include "bench/step_model.h"
#include "core/error.h"
#include "engine/engine.h"
#include "runtime/cores.h"

namespace roentgen::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::vector<double>;

enum Arm : std::size_t { kFused, kUnfused, kArms };

Seconds run_forwards(engine::Executable& executable, const StepOptions& options) {
  Seconds seconds;
  for (std::int64_t i = 0; i < options.warmup + options.steps; ++i) {
    if (i == options.warmup) executable.reset_profile();
    const auto start = Clock::now();
    executable.forward();
    const double taken_s = std::chrono::duration<double>(Clock::now() - start).count();
    if (i >= options.warmup) seconds.push_back(taken_s);
  }
  return seconds;
}

// Largest difference over the largest value. DataError where it is more than rounding.
double compare_logits(std::span<const float> fused, std::span<const float> unfused, const StepOptions& options) {
  double largest = 0.0, difference = 0.0;
  for (std::size_t i = 0; i < fused.size(); ++i) {
    if (!std::isfinite(fused[i]) || !std::isfinite(unfused[i])) {
      throw DataError(error_text("bench.infer", "logits of " + options.model, "finite numbers",
                                 std::to_string(fused[i]) + " and " + std::to_string(unfused[i])));
    }
    largest = std::max(largest, std::abs(static_cast<double>(unfused[i])));
    difference = std::max(difference, std::abs(static_cast<double>(fused[i]) - static_cast<double>(unfused[i])));
  }
  const double rounding = largest > 0.0 ? difference / largest : difference;
  const double most = options.algorithms == "direct" ? kMostRounding : 10.0 * kMostRounding;
  if (rounding > most) {
    throw DataError(error_text("bench.infer", "logits of " + options.model + " with and without passes",
                               fmt::format("a difference of at most {:.0e}", most), fmt::format("{:.1e}", rounding),
                               "--fuse with one pass after the other, which shows the one at fault"));
  }
  return rounding;
}

Seconds joined(const std::vector<Seconds>& rounds) {
  Seconds all;
  for (const Seconds& round : rounds) all.insert(all.end(), round.begin(), round.end());
  return all;
}

// What one batch size gave.
struct Measured {
  Value row;
  double rounding = 0.0;
  std::vector<float> logits;
  std::string plan_hash;
  Value profile, layers;
  std::vector<std::string> warnings;
};

Measured measure_batch(const InferOptions& options, std::size_t which, engine::Engine& engine, int threads) {
  StepOptions network = options.network;
  network.batch = options.batches[which];
  network.graph = options.graphs.empty() ? nullptr : options.graphs.at(which);
  std::vector<std::unique_ptr<engine::Executable>> executables;
  for (std::size_t arm = 0; arm < kArms; ++arm) {
    if (arm == kUnfused) network.fuse = "off";
    executables.push_back(compile_inference(network, engine, threads));
  }
  const auto seconds =
      interleave(kArms, options.rounds, [&](std::size_t arm) { return run_forwards(*executables[arm], network); });
  const engine::Executable& fused = *executables[kFused];
  const std::span<const float> logits = fused.output("logits");
  Measured measured{.rounding = compare_logits(logits, executables[kUnfused]->output("logits"), network),
                    .logits = {logits.begin(), logits.end()},
                    .plan_hash = fused.plan().hash()};
  const Seconds all = joined(seconds[kFused]);
  const double median_s = summarise(all).median;
  std::vector<double> gains;
  for (std::size_t round = 0; round < seconds[kFused].size(); ++round) {
    gains.push_back(summarise(seconds[kUnfused][round]).median / summarise(seconds[kFused][round]).median);
    if (auto sign = sign_of_spread(fmt::format("run of batch {}", network.batch), seconds[kFused][round])) {
      measured.warnings.push_back(std::move(*sign));
    }
  }
  measured.row = Value::Table{{"batch", network.batch},
                              {"images_per_s", static_cast<double>(network.batch) / median_s},
                              {"best_ms", summarise(all).min * 1e3},
                              {"p50_ms", median_s * 1e3},
                              {"p95_ms", percentile(all, 95) * 1e3},
                              {"p99_ms", percentile(all, 99) * 1e3},
                              {"unfused_ms", summarise(joined(seconds[kUnfused])).median * 1e3},
                              {"gain", summarise(gains).median},
                              {"peak_bytes", fused.plan().memory.total()}};
  const Seconds& last = seconds[kFused].back();
  measured.profile =
      profile_table(fused, {.count = network.steps, .total_s = std::accumulate(last.begin(), last.end(), 0.0)});
  measured.layers = layer_table(fused, fused.profile(), nullptr);
  return measured;
}

}  // namespace

std::vector<std::int64_t> parse_batches(std::string_view text) {
  constexpr std::int64_t kMost = 65536;
  std::vector<std::int64_t> batches;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    std::int64_t batch = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), batch);
    if (error != std::errc{} || stop != word.data() + word.size() || batch < 1 || batch > kMost) {
      throw ConfigError(error_text("bench.options", "--batch", fmt::format("numbers from 1 to {}", kMost),
                                   std::string(text), "--batch 16"));
    }
    batches.push_back(batch);
    begin = end + 1;
  }
  return batches;
}

Value run_infer(const InferOptions& options) {
  const StepOptions& network = options.network;
  require_at_least("warmup", network.warmup, 0);
  require_at_least("steps", network.steps, 1);
  require_at_least("threads", network.threads, 0);
  require_at_least("rounds", options.rounds, 1);
  require_at_least("batch", static_cast<std::int64_t>(options.batches.size()), 1);
  const int threads = network.threads > 0 ? network.threads : runtime::default_compute_threads();
  const std::unique_ptr<engine::Engine> engine = engine::make_engine(network.device);
  Value rows = Value::array(), warnings = Value::array();
  double rounding = 0.0;
  std::vector<float> logits;
  Measured largest;
  std::int64_t largest_batch = 0;
  for (std::size_t i = 0; i < options.batches.size(); ++i) {
    Measured measured = measure_batch(options, i, *engine, threads);
    rows.push_back(measured.row);
    rounding = std::max(rounding, measured.rounding);
    logits.insert(logits.end(), measured.logits.begin(), measured.logits.end());
    for (std::string& text : measured.warnings) warnings.push_back(std::move(text));
    if (options.batches[i] < largest_batch) continue;
    largest_batch = options.batches[i];
    largest = std::move(measured);
  }
  Value result = Value::Table{{"case", "infer"},
                              {"model", network.model},
                              {"image_px", network.image_px},
                              {"channels", network.channels},
                              {"labels", network.labels},
                              {"threads", threads},
                              {"device", network.device},
                              {"fuse", network.fuse},
                              {"algorithms", network.algorithms},
                              {"warmup", network.warmup},
                              {"n", network.steps},
                              {"rounds", options.rounds},
                              {"batches", std::move(rows)},
                              {"rounding", rounding}};
  result.set("checksum", checksum(std::as_bytes(std::span(logits))));
  result.set("plan_hash", largest.plan_hash);
  result.set("profile", network.has_profile ? std::move(largest.profile) : Value());
  result.set("layers", network.has_profile ? std::move(largest.layers) : Value());
  result.set("warnings", std::move(warnings));
  result.set("engine", engine->description());
  add_environment(result);
  return result;
}

}  // namespace roentgen::bench
