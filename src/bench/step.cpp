// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "bench/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "bench/case_list.h"
#include "bench/floor.h"
#include "bench/harness.h"
#include "bench/profile.h"
#include "bench/step_model.h"
#include "core/error.h"
#include "core/log.h"
#include "engine/engine.h"
#include "runtime/cores.h"
#include "runtime/memory.h"
#include "train/optimizer/optimizer.h"

namespace roentgen::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Slowest over fastest step. Steps do the same work: on a quiet machine they differ by a few percent.
constexpr double kMostSpread = 1.25;
// Networks of docs/benchmarks/step.md and step_history.md take 1.07 to 2.34 times as long as their convolutions alone.
constexpr double kMostFloorRatio = 5.0;
constexpr std::string_view kAdvice = "the machine was busy: measure again when it is quiet";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// What the measured steps left behind.
struct Measurements {
  std::vector<double> step_s;
  std::vector<double> optimizer_s;
  /// Of all steps, the warm-up included.
  std::vector<float> losses;
};

Measurements run_steps(const StepOptions& options, engine::Executable& executable, train::Optimizer& optimizer,
                       Floor& floor) {
  const std::vector<train::UpdateRange> ranges{
      {.begin = 0, .count = static_cast<std::int64_t>(executable.parameters().size()), .weight_decay = 1e-4}};
  Measurements measured;
  for (std::int64_t step = 0; step < options.warmup + options.steps; ++step) {
    if (step == options.warmup) {
      floor.measure();
      executable.reset_profile();
    }
    const auto start = Clock::now();
    executable.set_step(step);
    executable.forward();
    executable.backward([](std::int64_t) {});
    const auto update_start = Clock::now();
    optimizer.apply({.parameters = executable.parameters(),
                     .gradients = executable.gradients(),
                     .ranges = ranges,
                     .lr = 1e-3,
                     .step = step + 1});
    const double optimizer_s = seconds_since(update_start);
    const double step_s = seconds_since(start);
    measured.losses.push_back(executable.output("loss")[0]);
    if (step < options.warmup) continue;
    measured.step_s.push_back(step_s);
    measured.optimizer_s.push_back(optimizer_s);
  }
  return measured;
}

double total(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Share of the measured time that is neither an entry's nor the optimizer's.
double framework_share(const engine::Executable& executable, const Measurements& measured) {
  double kernels_s = 0.0;
  for (const engine::EntryTime& time : executable.profile()) kernels_s += time.seconds;
  return 1.0 - (kernels_s + total(measured.optimizer_s)) / total(measured.step_s);
}

void require_finite(std::span<const float> losses) {
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (std::isfinite(losses[i])) continue;
    throw DataError(
        error_text("bench.step", "step " + std::to_string(i + 1), "a finite loss", std::to_string(losses[i]),
                   "fewer --steps, or --algorithms direct --fuse off, which shows whether a kernel is at fault"));
  }
}

std::size_t state_bytes(train::Optimizer& optimizer) {
  std::size_t bytes = 0;
  for (const train::OptimizerState& state : optimizer.state()) bytes += state.arena.size_bytes();
  return bytes;
}

/// What is planned and what was measured; see run_step().
Value memory_table(const engine::MemoryReport& planned, std::size_t optimizer_bytes,
                   std::optional<std::size_t> measured_bytes) {
  const auto number = [](std::size_t bytes) { return Value(static_cast<std::int64_t>(bytes)); };
  return Value::Table{{"planned_bytes", number(planned.total() + optimizer_bytes)},
                      {"measured_bytes", measured_bytes ? number(*measured_bytes) : Value()},
                      {"activations_bytes", number(planned.activations)},
                      {"threads_scratch_bytes", number(planned.threads_scratch)},
                      {"parameters_bytes", number(planned.parameters)},
                      {"gradients_bytes", number(planned.gradients)},
                      {"optimizer_bytes", number(optimizer_bytes)},
                      {"inputs_bytes", number(planned.inputs)},
                      {"other_bytes", number(planned.state + planned.kept)}};
}

Value settings(const StepOptions& options, int threads, const std::string& dtype) {
  return Value::Table{{"case", "step"},
                      {"model", options.model},
                      {"batch", options.batch},
                      {"image_px", options.image_px},
                      {"channels", options.channels},
                      {"labels", options.labels},
                      {"threads", threads},
                      {"device", options.device},
                      {"fuse", options.fuse},
                      {"algorithms", options.algorithms},
                      {"dtype", dtype},
                      {"recompute", options.recompute},
                      {"warmup", options.warmup},
                      {"n", options.steps}};
}

}  // namespace

std::optional<std::string> sign_of_spread(std::string_view what, std::span<const double> times) {
  const auto [least, most] = std::ranges::minmax(times);
  if (most <= kMostSpread * least) return std::nullopt;
  return fmt::format("the slowest {} took {:.2f} times the fastest; {}", what, most / least, kAdvice);
}

std::vector<std::string> signs_of_other_work(std::span<const double> step_s, std::optional<double> floor_ratio) {
  std::vector<std::string> signs;
  if (auto sign = sign_of_spread("step", step_s)) signs.push_back(std::move(*sign));
  if (floor_ratio && *floor_ratio < 1.0) {
    signs.push_back(
        fmt::format("the step took {:.2f} of the time of its convolutions alone; {}", *floor_ratio, kAdvice));
  }
  if (floor_ratio && *floor_ratio > kMostFloorRatio) {
    signs.push_back(
        fmt::format("the step took {:.1f} times as long as its convolutions alone; {}", *floor_ratio, kAdvice));
  }
  return signs;
}

Value run_step(const StepOptions& options) {
  require_at_least("warmup", options.warmup, 0);
  require_at_least("steps", options.steps, 1);
  require_at_least("threads", options.threads, 0);
  const int threads = options.threads > 0 ? options.threads : runtime::default_compute_threads();
  const std::unique_ptr<engine::Engine> engine = engine::make_engine(options.device);
  const bool has_peak = runtime::reset_peak_resident_memory();
  const std::size_t before_bytes = runtime::resident_memory_bytes();
  const std::unique_ptr<engine::Executable> executable = compile_step(options, *engine, {.threads = threads});
  const std::unique_ptr<train::Optimizer> optimizer = train::make_optimizer(
      "sgd", {.momentum = 0.9, .threads = threads}, static_cast<std::int64_t>(executable->parameters().size()));
  const engine::MemoryReport& planned = executable->plan().memory;
  const std::size_t optimizer_bytes = state_bytes(*optimizer);
  log::info("step: peak of memory " + planned.text({{"optimizer", optimizer_bytes}}));
  Floor floor(*executable);
  const Measurements measured = run_steps(options, *executable, *optimizer, floor);
  require_finite(measured.losses);
  const std::size_t peak_bytes = runtime::peak_resident_memory_bytes();

  Value result = settings(options, threads, executable->plan().dtype());
  const double median_s = summarise(measured.step_s).median;
  result.set("images_per_s", static_cast<double>(options.batch) / median_s);
  result.set("step_ms", summary_ms(measured.step_s));
  result.set("optimizer_ms", summarise(measured.optimizer_s).median * 1e3);
  result.set("peak_bytes", planned.total() + optimizer_bytes);
  result.set("process_peak_bytes", static_cast<std::int64_t>(peak_bytes));
  result.set("memory", memory_table(planned, optimizer_bytes,
                                    has_peak ? std::optional(peak_bytes - before_bytes) : std::nullopt));
  result.set("framework_share", framework_share(*executable, measured));
  Value profile = options.has_profile ? profile_table(*executable, {.count = options.steps,
                                                                    .total_s = total(measured.step_s),
                                                                    .optimizer_s = total(measured.optimizer_s)})
                                      : Value();
  const std::vector<engine::EntryTime> times = executable->profile();
  floor.measure();
  const std::optional<double> floor_s = floor.seconds();
  const std::optional<double> floor_ratio = floor_s ? std::optional(median_s / *floor_s) : std::nullopt;
  result.set("conv_floor_ms", floor_s ? Value(*floor_s * 1e3) : Value());
  result.set("floor_ratio", floor_ratio ? Value(*floor_ratio) : Value());
  Value& warnings = result.set("warnings", Value::array());
  for (std::string& text : signs_of_other_work(measured.step_s, floor_ratio)) warnings.push_back(std::move(text));
  result.set("loss_first", static_cast<double>(measured.losses.front()));
  result.set("loss_last", static_cast<double>(measured.losses.back()));
  result.set("checksum", checksum(std::as_bytes(std::span(measured.losses))));
  result.set("plan_hash", executable->plan().hash());
  result.set("engine", engine->description());
  result.set("profile", std::move(profile));
  result.set("layers", options.has_profile ? layer_table(*executable, times, &floor) : Value());
  add_environment(result);
  return result;
}

Value case_step(const CaseOptions& options) {
  return run_step({.warmup = options.warmup, .steps = options.repeats, .threads = options.threads});
}

}  // namespace roentgen::bench
