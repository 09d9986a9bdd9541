// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/scaling_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "bench/calibration.h"
#include "bench/disturbance.h"
#include "bench/emulated_executable.h"
#include "bench/energy.h"
#include "bench/harness.h"
#include "bench/machine_watch.h"
#include "bench/ranks.h"
#include "bench/same_batches.h"
#include "core/error.h"
#include "data/source/dataset.h"
#include "data/stage/loader.h"
#include "dist/comm_thread.h"
#include "engine/engine.h"
#include "io/json.h"
#include "runtime/core_list.h"
#include "train/one_plan.h"
#include "train/own_device.h"
#include "train/ranks.h"
#include "train/servers/async_leg.h"
#include "train/servers/parameter_server.h"
#include "train/stepper.h"
#include "train/trace.h"

namespace roentgen::bench {
namespace {

std::unique_ptr<engine::Executable> compile(const ScalingOptions& options, const train::Ranks& ranks,
                                            engine::Engine& engine, int slots) {
  const engine::ChoiceInputs choice = train::shared_choice_inputs(ranks, engine, options.step.threads);
  auto executable = compile_step(options.step, engine,
                                 {.threads = options.step.threads,
                                  .slots = slots,
                                  .bucket_bytes = static_cast<std::size_t>(options.bucket_mb * 1048576.0),
                                  .choice = &choice});
  train::require_one_plan(ranks, *executable);
  if (options.device_images_per_s <= 0.0) return executable;
  constexpr int kSteps = 2;
  StepCourse course = measure_course(*executable, kSteps);
  const double slowness = ranks.rank() + 1 == ranks.size() ? options.straggler : 1.0;
  return make_emulated_executable(std::move(executable), std::move(course),
                                  slowness * static_cast<double>(options.step.batch) / options.device_images_per_s);
}

struct Sums {
  std::vector<double> step_s;
  double wall_s = 0.0;
  double wait_s = 0.0;
  double comm_s = 0.0;
  double imbalance = 0.0;
  std::int64_t images = 0;
  /// Number of steps in which each rank was the slowest.
  std::map<int, std::int64_t> slowest{};
  std::optional<train::StalenessRecord> staleness{};
  /// Energy of this host during the measured steps; nullopt if it was not measured.
  std::optional<Energy> energy{};

  void add(const train::StepRecord& record) {
    step_s.push_back(record.seconds);
    wait_s += record.data_wait_seconds;
    comm_s += record.comm_exposed_seconds.value_or(0.0);
    imbalance += record.imbalance.value_or(0.0);
    images += record.images;
    if (record.slowest_rank >= 0) ++slowest[record.slowest_rank];
    staleness = record.staleness;
  }
};

/// Trainer and batches of the steps to run, and what watches the measured ones.
struct Course {
  train::Stepper& stepper;
  data::BatchSource& batches;
  /// Pipeline of the batches, ended after the last step; null without one.
  std::unique_ptr<Input>& input;
  MachineWatch& watch;

  /// Ends the watch. The pipeline ends before the last sample, because its threads would go on decoding.
  void end() const {
    watch.end([this] { input.reset(); });
  }
};

// Trains asynchronously until the parameter servers have received the gradients of the `span` steps of all workers.
// Images per second count the images of all workers while this worker computes.
Sums run_leg(const train::Ranks& ranks, const Course& course, const train::AsyncLeg::Span& span, double lr) {
  Sums sums;
  train::AsyncLeg leg(ranks, *course.stepper.servers(), span);
  const auto begin = Clock::now();
  do sums.add(course.stepper.update(course.batches, leg.gradients(), lr));
  while (!leg.is_over());
  sums.wall_s = seconds_since(begin);
  static_cast<void>(leg.meet());
  return sums;
}

Sums run_steps(const ScalingOptions& options, const train::Ranks& ranks, const Course& course) {
  const double lr = options.optimizer.lr;
  Sums sums;
  if (options.servers.is_async()) {
    static_cast<void>(run_leg(ranks, course, {.step = 0, .rounds = options.step.warmup}, lr));
    course.watch.begin();
    sums = run_leg(ranks, course, {.step = options.step.warmup, .rounds = options.step.steps}, lr);
    course.end();
    return sums;
  }
  const auto run_one = [&](std::int64_t step) {
    train::StepRecord record = course.stepper.update(course.batches, step, lr);
    if (options.on_step) options.on_step(record);
    return record;
  };
  Monitors monitors = all_monitors();
  for (std::int64_t step = 0; step < options.step.warmup; ++step) static_cast<void>(run_one(step));
  course.watch.begin();
  EnergyMeter meter(std::move(monitors));
  const auto begin = Clock::now();
  for (std::int64_t step = 0; step < options.step.steps; ++step) {
    course.watch.before_step(step, &meter);
    sums.add(run_one(options.step.warmup + step));
  }
  sums.wall_s = seconds_since(begin) - course.watch.paused_s();
  sums.energy = meter.stop();
  course.end();
  return sums;
}

bool is_first_of_host(const train::Ranks& ranks) {
  int first = 0;
  while (ranks.host(first) != ranks.host(ranks.rank())) ++first;
  return first == ranks.rank();
}

/// Collects a value of every rank as JSON.
std::vector<Value> gather_values(const train::Ranks& ranks, const Value& own, dist::Phase phase) {
  std::vector<Value> all;
  for (const std::string& text : ranks.gather(io::to_json(own, -1), phase)) {
    all.push_back(io::parse_json(text, phase.name).or_throw<CommError>());
  }
  return all;
}

/// Compares the counters at the begin and end of the measured steps, on all hosts, and returns those of the host with
/// the worst value. The CPU time of all workers on a host counts as the benchmark's own. Beside parameter servers,
/// whose CPU time is not known here, that of other processes is unknown. All workers must call it.
Disturbance disturbance_of(const train::Ranks& ranks, const MachineWatch& watch, bool has_servers) {
  MachineState begin = watch.begin_state(), end = watch.end_state();
  const double unknown = -1.0;
  const double own_s = begin.own_s && end.own_s ? *end.own_s - *begin.own_s : unknown;
  const auto all_s = ranks.gather_values(std::span(&own_s, 1), {.name = "end of the measurement"});
  double host_s = 0.0;
  bool is_known = !has_servers;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (ranks.host(rank) != ranks.host(ranks.rank())) continue;
    const double each_s = all_s[static_cast<std::size_t>(rank)].front();
    is_known = is_known && each_s >= 0.0;
    host_s += each_s;
  }
  begin.own_s = 0.0;
  end.own_s = is_known ? std::optional(host_s) : std::nullopt;
  Disturbance own = disturbance_between(begin, end);
  own.host = ranks.host(ranks.rank());
  std::vector<Disturbance> all;
  for (const Value& each : gather_values(ranks, to_value(own), {.name = "disturbances"})) {
    all.push_back(disturbance_in(each));
  }
  return worst_host(all);
}

WatchOptions watch_options(const ScalingOptions& options, const train::Ranks& ranks) {
  return {.threads = options.step.threads,
          .steps = options.step.steps,
          .is_calibrated = options.is_calibrated && options.device_images_per_s <= 0.0,
          .has_samples_between = !options.input,
          .has_machine = is_first_of_host(ranks),
          .local_ranks = ranks.local_size(),
          .meet = [&ranks] {
            const int rank = ranks.rank();
            static_cast<void>(ranks.gather_values(std::span(&rank, 1), {.name = "calibration"}));
          }};
}

/// Joins the calibrations of all ranks; null if there are none. All ranks must call it.
Value calibration_of(const train::Ranks& ranks, const Calibration& own) {
  if (own.samples.empty()) return {};
  std::vector<Calibration> all;
  for (const Value& each : gather_values(ranks, to_value(own), {.name = "calibrations"})) {
    all.push_back(calibration_in(each));
  }
  return to_value(slowest_of(all));
}

// True if a host has fewer cores than compute threads. A rank with an emulated device needs one core, because its
// thread still reads, averages and updates.
bool is_oversubscribed(const ScalingOptions& options, const train::Ranks& ranks) {
  return are_too_many(ranks.local_size() * (options.device_images_per_s > 0.0 ? 1 : options.step.threads));
}

std::int64_t hosts_of(const dist::CommThread* group) {
  if (group == nullptr) return 1;
  return std::ssize(std::set<std::string>(group->hosts().begin(), group->hosts().end()));
}

train::TraceOptions trace_options(const ScalingOptions& options) {
  return {.first = options.step.warmup + options.step.steps};
}

void write_trace(train::Tracer& tracer, const train::Ranks& ranks, const std::filesystem::path& folder) {
  std::error_code ignored;  // the writer of the folder reports its own errors
  if (ranks.is_first()) std::filesystem::create_directories(folder, ignored);
  tracer.write(folder / fmt::format("ranks-{}.json", ranks.size()));
}

// Divides the ranks into workers and parameter servers, if servers are used. Returns true if this rank is a server.
bool divide(const ScalingOptions& options, dist::CommThread* group) {
  if (!options.servers.has_servers()) return false;
  const int servers = options.servers.servers;
  if (group == nullptr || group->size() <= servers) {
    throw ConfigError(error_text("bench.scaling", "--servers", "fewer servers than ranks", "no rank left to train",
                                 "a larger --ranks"));
  }
  group->divide(servers);
  return group->first_rank() > 0;
}

// Runs a parameter server until all workers have finished.
Value serve(const ScalingOptions& options, dist::CommThread& group, engine::Executable& executable) {
  train::Optimizer optimizer(options.optimizer.name, options.optimizer.rules, executable);
  train::ParameterServer server(
      executable, optimizer,
      train::ranges_by_bucket(train::update_ranges(executable, {.weight_decay = options.optimizer.weight_decay}),
                              executable.buckets()),
      {.servers = options.servers,
       .index = group.rank() - group.first_rank(),
       .workers = group.first_rank(),
       .limit = group.limit()});
  group.call([&](dist::Communicator& communicator) { server.serve(communicator); });
  return {};
}

void set_figures(const ScalingOptions& options, const train::Ranks& ranks, const Sums& sums, Value& result) {
  const double steps_s = std::accumulate(sums.step_s.begin(), sums.step_s.end(), 0.0);
  result.set("images_per_s", static_cast<double>(sums.images) / sums.wall_s);
  result.set("step_ms", summary_ms(sums.step_s));
  result.set("comm_exposed", sums.comm_s / steps_s);
  result.set("data_wait", sums.wait_s / steps_s);
  result.set("imbalance", sums.imbalance / static_cast<double>(sums.step_s.size()));
  if (const auto most = std::ranges::max_element(sums.slowest, {}, [](const auto& each) { return each.second; });
      most != sums.slowest.end()) {
    result.set("slowest_rank", most->first);
  }
  result.set("overlap", options.is_overlapped);
  result.set("oversubscribed", is_oversubscribed(options, ranks));
  if (!sums.staleness) return;
  result.set("applied", sums.staleness->applied);
  result.set("dropped", sums.staleness->dropped);
  result.set("staleness_mean", sums.staleness->mean);
  result.set("staleness_max", sums.staleness->max);
}

}  // namespace

Value run_scaling_point(const ScalingOptions& options, dist::CommThread* group) {
  require_at_least("warmup", options.step.warmup, 1);
  require_at_least("steps", options.step.steps, 1);
  require_at_least("threads", options.step.threads, 1);
  const bool is_server = divide(options, group);
  const train::Ranks ranks(group);
  const runtime::BoundToCores bound(first_cores(options.step.threads));
  const auto engine = engine::make_engine(train::own_device(options.step.device));
  if (!options.step.may_share_device) train::require_own_device(ranks, *engine);
  constexpr int kSlots = 3;
  const auto executable = compile(options, ranks, *engine, options.input ? kSlots : 1);
  if (is_server) return serve(options, *group, *executable);
  std::optional<train::Tracer> tracer;
  if (!options.trace_folder.empty()) tracer.emplace(trace_options(options), group);
  train::StepperOptions stepping{.optimizer = options.optimizer.name,
                                 .rules = options.optimizer.rules,
                                 .weight_decay = options.optimizer.weight_decay,
                                 .group = group,
                                 .device_id = engine->device_id(),
                                 .servers = options.servers,
                                 .is_overlapped = options.is_overlapped,
                                 .timeline = tracer ? tracer->timeline() : nullptr};
  train::Stepper stepper(*executable, stepping);
  train::share_memory(ranks, *executable, stepper.optimizer(), nullptr);

  MachineWatch watch(*engine, watch_options(options, ranks));
  std::vector<std::vector<float>> labels;
  std::unique_ptr<Input> input;
  if (options.input) {
    InputOptions piped = *options.input;
    piped.rank = ranks.rank();
    piped.ranks = ranks.size();
    piped.slot_dtype = engine->slot_dtype();
    input = std::make_unique<Input>(*options.dataset, piped,
                                    batch_slots(*executable, kSlots, options.dataset->label_names.size(), labels));
  }
  SameBatches same(options.step.batch);
  data::BatchSource& batches = input ? static_cast<data::BatchSource&>(input->loader()) : same;
  const Sums sums = run_steps(options, ranks, {.stepper = stepper, .batches = batches, .input = input, .watch = watch});
  if (tracer) write_trace(*tracer, ranks, options.trace_folder);
  const Disturbance disturbance = disturbance_of(ranks, watch, options.servers.has_servers());
  if (train::ServerExchange* const servers = stepper.servers(); servers != nullptr) servers->end();

  const bool is_emulated = options.device_images_per_s > 0.0 || (options.input && options.input->storage);
  Value result = settings_of(
      "scaling", options.step,
      {"model", "batch", "image_px", "channels", "labels", "threads", "device", "fuse", "algorithms", "recompute"});
  result.set("ranks", ranks.size());
  result.set("servers", options.servers.servers);
  result.set("update", name_of(options.servers.way));
  result.set("hosts", hosts_of(group));
  result.set("dtype", executable->plan().dtype());
  set_figures(options, ranks, sums, result);
  result.set("kind", is_emulated ? "emulated" : "measured");
  if (options.input) result.set("cold", options.input->is_cold);
  double flops = 0.0;
  for (const engine::PlanEntry& entry : executable->plan().entries) flops += static_cast<double>(entry.flops);
  result.set("gflop_per_image", flops * 1e-9 / static_cast<double>(options.step.batch));
  if (sums.energy) result.set("energy", energy_value(result, *sums.energy));
  result.set("disturbance", to_value(disturbance));
  result.set("calibration", calibration_of(ranks, watch.calibration()));
  result.set("samples", Value::Table{{"step_s", samples_of(sums.step_s)}});
  return result;
}

}  // namespace roentgen::bench
