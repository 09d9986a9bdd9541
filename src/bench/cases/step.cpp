// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/calibration.h"
#include "bench/case_list.h"
#include "bench/disturbance.h"
#include "bench/energy.h"
#include "bench/floor.h"
#include "bench/harness.h"
#include "bench/machine_watch.h"
#include "bench/options.h"
#include "bench/peak.h"
#include "bench/profile.h"
#include "bench/step_progress.h"
#include "core/error.h"
#include "core/log.h"
#include "engine/device.h"
#include "engine/engine.h"
#include "runtime/memory.h"

namespace roentgen::bench {
namespace {

// Largest plausible ratio of a step's time to the time of its convolutions alone. The networks in docs/notebook/step.md
// and step_history.md have ratios from 1.07 to 2.34.
constexpr double kMostFloorRatio = 5.0;

/// Times and losses of all steps.
struct Measurements {
  std::vector<double> step_s;
  std::vector<double> optimizer_s;
  /// Time of the first step, warm-up or not.
  double first_s = 0.0;
  /// Loss of every step, warm-up included.
  std::vector<float> losses;
  /// Energy of the measured steps.
  Energy energy;
};

/// Measurements beside the times of steps.
struct Watchers {
  Floor& floor;
  MachineWatch& machine;
};

Measurements run_steps(const NetworkOptions& options, engine::Executable& executable, SgdSteps& steps,
                       const Watchers& watchers) {
  Measurements measured;
  Monitors monitors = all_monitors();
  std::optional<EnergyMeter> meter;
  StepProgress progress("step", options.warmup + options.steps);
  for (std::int64_t step = 0; step < options.warmup + options.steps; ++step) {
    if (step == options.warmup) {
      watchers.floor.measure();
      executable.reset_profile();
      watchers.machine.begin();
      meter.emplace(std::exchange(monitors, {}));
    }
    if (step >= options.warmup) watchers.machine.before_step(step - options.warmup, &*meter);
    const auto begin = Clock::now();
    executable.bind_slot(0);  // sends the batch to the device in every step, as in training
    const double optimizer_s = steps.run();
    // Reading the loss waits until the device has finished the step.
    measured.losses.push_back(steps.loss());
    const double step_s = seconds_since(begin);
    if (step == 0) measured.first_s = step_s;
    progress.update({.step = step + 1, .images = options.batch, .seconds = step_s});
    if (step < options.warmup) continue;
    measured.step_s.push_back(step_s);
    measured.optimizer_s.push_back(optimizer_s);
  }
  progress.end();
  measured.energy = meter->stop();
  watchers.machine.end();
  return measured;
}

double total(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Share of the measured time that is spent neither in kernels nor in the optimizer.
double framework_share(std::span<const engine::EntryTime> times, const Measurements& measured) {
  double kernels_s = 0.0;
  for (const engine::EntryTime& time : times) kernels_s += time.seconds;
  return 1.0 - (kernels_s + total(measured.optimizer_s)) / total(measured.step_s);
}

/// Number of floating-point operations of one step.
double flops_of(const engine::Plan& plan) {
  double flops = 0.0;
  for (const engine::PlanEntry& entry : plan.entries) flops += static_cast<double>(entry.flops);
  return flops;
}

/// Returns the result's key `memory` with planned and measured memory; see run_step().
Value memory_table(const engine::MemoryReport& planned, std::size_t optimizer_bytes,
                   std::optional<std::size_t> measured_bytes) {
  const auto number = [](std::size_t bytes) { return Value(static_cast<std::int64_t>(bytes)); };
  return Value::Table{{"planned_bytes", number(planned.total() + optimizer_bytes)},
                      {"measured_bytes", measured_bytes ? number(*measured_bytes) : Value()},
                      {"activations_bytes", number(planned.activations)},
                      {"threads_scratch_bytes", number(planned.workspace)},
                      {"parameters_bytes", number(planned.parameters)},
                      {"gradients_bytes", number(planned.gradients)},
                      {"optimizer_bytes", number(optimizer_bytes)},
                      {"inputs_bytes", number(planned.inputs)},
                      {"other_bytes", number(planned.state + planned.kept)}};
}

/// Sets disturbance and calibration, and adds their signs to `signs` for the warnings.
void set_signs(Value& result, const MachineWatch& watch, std::span<const double> step_s,
               std::vector<std::string> signs) {
  const Disturbance disturbance = disturbance_between(watch.begin_state(), watch.end_state());
  result.set("disturbance", to_value(disturbance));
  result.set("calibration", to_value(watch.calibration()));
  Value& warnings = result.set("warnings", Value::array());
  for (auto& more : {signs_of(disturbance), signs_of(watch.calibration(), step_s)}) {
    signs.insert(signs.end(), more.begin(), more.end());
  }
  for (std::string& text : signs) warnings.push_back(std::move(text));
}

}  // namespace

std::vector<std::string> signs_of_other_work(std::span<const double> step_s, std::optional<double> floor_ratio) {
  std::vector<std::string> signs;
  if (auto sign = sign_of_spread("step", step_s)) signs.push_back(std::move(*sign));
  if (floor_ratio && *floor_ratio < 1.0) {
    signs.push_back(
        fmt::format("the step took {:.2f} of the time of its convolutions alone; {}", *floor_ratio, kBusyAdvice));
  }
  if (floor_ratio && *floor_ratio > kMostFloorRatio) {
    signs.push_back(
        fmt::format("the step took {:.1f} times as long as its convolutions alone; {}", *floor_ratio, kBusyAdvice));
  }
  return signs;
}

Value run_step(const NetworkOptions& given) {
  const NetworkOptions options = checked(given);
  const std::unique_ptr<engine::Engine> engine = engine::make_engine(options.device);
  MachineWatch watch(*engine, {.threads = options.threads, .steps = options.steps});  // before memory is measured
  const bool has_peak = runtime::reset_peak_resident_memory();
  const std::size_t before_bytes = runtime::resident_memory_bytes();
  const auto begin = Clock::now();
  const std::unique_ptr<engine::Executable> executable = compile_step(options, *engine, {.threads = options.threads});
  const double compile_s = seconds_since(begin);
  constexpr double kRate = 1e-3;
  SgdSteps steps(*executable, kRate);
  const engine::MemoryReport& planned = executable->plan().memory;
  const std::size_t optimizer_bytes = steps.state_bytes();
  log::info("step: peak of memory " + planned.text({{"optimizer", optimizer_bytes}}));
  Floor floor(*executable);
  const Measurements measured = run_steps(options, *executable, steps, {.floor = floor, .machine = watch});
  const std::size_t peak_bytes = runtime::peak_resident_memory_bytes();

  NetworkOptions said = options;
  said.dtype = executable->plan().dtype();
  Value result = settings_of("step", said,
                             {"model", "batch", "image_px", "channels", "labels", "threads", "device", "fuse",
                              "algorithms", "dtype", "recompute", "warmup", "n"});
  const double median_s = summarise(measured.step_s).median;
  result.set("images_per_s", static_cast<double>(options.batch) / median_s);
  result.set("energy", energy_value(result, measured.energy));
  result.set("first_step_s", compile_s + measured.first_s);
  result.set("step_ms", summary_ms(measured.step_s));
  result.set("optimizer_ms", summarise(measured.optimizer_s).median * 1e3);
  result.set("peak_bytes", planned.total() + optimizer_bytes);
  result.set("process_peak_bytes", static_cast<std::int64_t>(peak_bytes - watch.bytes()));
  result.set("memory", memory_table(planned, optimizer_bytes,
                                    has_peak ? std::optional(peak_bytes - before_bytes) : std::nullopt));
  const bool is_host = engine::resolve_device(engine::parse_device(options.device)).is_host();
  const ProfiledRuns profiled{
      .count = options.steps, .total_s = total(measured.step_s), .optimizer_s = total(measured.optimizer_s)};
  std::vector<engine::EntryTime> times;
  if (is_host || options.has_profile) times = times_of(*executable, profiled, is_host);
  result.set("framework_share", times.empty() ? Value() : Value(framework_share(times, measured)));
  Value profile = options.has_profile ? profile_table(*executable, times, profiled) : Value();
  floor.measure();
  const std::optional<double> floor_s = floor.seconds();
  const std::optional<double> floor_ratio = floor_s ? std::optional(median_s / *floor_s) : std::nullopt;
  result.set("conv_floor_ms", floor_s ? Value(*floor_s * 1e3) : Value());
  result.set("floor_ratio", floor_ratio ? Value(*floor_ratio) : Value());
  std::vector<std::string> signs = signs_of_other_work(measured.step_s, floor_ratio);
  set_signs(result, watch, measured.step_s, std::move(signs));
  result.set("loss_first", static_cast<double>(measured.losses.front()));
  result.set("loss_last", static_cast<double>(measured.losses.back()));
  result.set("checksum", checksum(std::as_bytes(std::span(measured.losses))));
  result.set("plan_hash", executable->plan().hash());
  result.set("engine", engine->description());
  result.set("samples", Value::Table{{"step_s", samples_of(measured.step_s)}});
  result.set("profile", std::move(profile));
  result.set("layers", options.has_profile ? layer_table(*executable, times, &floor) : Value());
  const double flops = flops_of(executable->plan());
  result.set("gflop_per_image", flops * 1e-9 / static_cast<double>(options.batch));
  if (options.has_profile) add_share_of_peak(result, measure_peak(said), flops, median_s);
  add_environment(result);
  return result;
}

namespace {

class StepCase final : public Case {
 public:
  StepCase()
      : Case("whole training steps of a model on random input: forward, backward, optimizer",
             "roentgen bench step --model resnet50 --batch 16 --image 224 --warmup 3 --steps 10 --threads 2\n"
             "roentgen bench step --model densenet121 --profile") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({sizes_.options({"--batch", "--image", "--channels", "--warmup", "--steps"}),
                   network_.training_options(), network_.options({"--profile"})});
  }
  [[nodiscard]] Value run(const Host& host) override {
    NetworkOptions options = network_.checked(sizes_);
    options.graph = host.graph_of_file(options);
    Value result = run_step(options);
    if (result.find("peak") == nullptr) {  // without --profile
      options.dtype = result.at("dtype").as_string();
      add_share_of_peak(result, measure_peak(options));
    }
    return result;
  }

 private:
  SizeArguments sizes_;
  NetworkArguments network_;
};

}  // namespace

std::unique_ptr<Case> make_step_case() { return std::make_unique<StepCase>(); }

}  // namespace roentgen::bench
