// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "bench/case_list.h"
#include "bench/emulated_executable.h"
#include "bench/harness.h"
#include "bench/options.h"
#include "bench/ranks.h"
#include "bench/same_batches.h"
#include "core/comma_list.h"
#include "core/error.h"
#include "core/log.h"
#include "data/source/dataset.h"
#include "data/stage/loader.h"
#include "dist/comm_thread.h"
#include "dist/launched.h"
#include "engine/engine.h"
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

/// Optimizer that workers and parameter servers use.
struct {
  const char* name = "sgd";
  double weight_decay = 1e-4;
} constexpr kStepping;

struct Sums {
  std::vector<double> step_s;
  double wall_s = 0.0;
  double wait_s = 0.0;
  double comm_s = 0.0;
  double imbalance = 0.0;
  std::int64_t images = 0;
  std::optional<train::StalenessRecord> staleness{};

  void add(const train::StepRecord& record) {
    step_s.push_back(record.seconds);
    wait_s += record.data_wait_seconds;
    comm_s += record.comm_exposed_seconds.value_or(0.0);
    imbalance += record.imbalance.value_or(0.0);
    images += record.images;
    staleness = record.staleness;
  }
};

constexpr double kRate = 1e-4;

// Trains asynchronously until the parameter servers have received the gradients of the `span` steps of all workers.
// Images per second count the images of all workers while this worker computes.
Sums run_leg(const train::Ranks& ranks, train::Stepper& stepper, data::BatchSource& batches,
             const train::AsyncLeg::Span& span) {
  Sums sums;
  train::AsyncLeg leg(ranks, *stepper.servers(), span);
  const auto begin = Clock::now();
  do sums.add(stepper.update(batches, leg.gradients(), kRate));
  while (!leg.is_over());
  sums.wall_s = seconds_since(begin);
  static_cast<void>(leg.meet());
  return sums;
}

Sums run_steps(const ScalingOptions& options, const train::Ranks& ranks, train::Stepper& stepper,
               data::BatchSource& batches) {
  if (options.servers.is_async()) {
    static_cast<void>(run_leg(ranks, stepper, batches, {.step = 0, .rounds = options.step.warmup}));
    return run_leg(ranks, stepper, batches, {.step = options.step.warmup, .rounds = options.step.steps});
  }
  Sums sums;
  for (std::int64_t step = 0; step < options.step.warmup; ++step) {
    static_cast<void>(stepper.update(batches, step, kRate));
  }
  const auto begin = Clock::now();
  for (std::int64_t step = 0; step < options.step.steps; ++step) {
    sums.add(stepper.update(batches, options.step.warmup + step, kRate));
  }
  sums.wall_s = seconds_since(begin);
  return sums;
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
  train::Optimizer optimizer(kStepping.name, {}, executable);
  train::ParameterServer server(
      executable, optimizer,
      train::ranges_by_bucket(train::update_ranges(executable, {.weight_decay = kStepping.weight_decay}),
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
  train::StepperOptions stepping{.optimizer = kStepping.name,
                                 .weight_decay = kStepping.weight_decay,
                                 .group = group,
                                 .device_id = engine->device_id(),
                                 .servers = options.servers,
                                 .is_overlapped = options.is_overlapped,
                                 .timeline = tracer ? tracer->timeline() : nullptr};
  train::Stepper stepper(*executable, stepping);
  train::share_memory(ranks, *executable, stepper.optimizer(), nullptr);

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
  const Sums sums = run_steps(options, ranks, stepper, batches);
  if (tracer) write_trace(*tracer, ranks, options.trace_folder);
  static_cast<void>(ranks.gather("", {.name = "end of the measurement"}));
  if (train::ServerExchange* const servers = stepper.servers(); servers != nullptr) servers->end();

  const bool is_emulated = options.device_images_per_s > 0.0 || (options.input && options.input->storage);
  Value result = settings_of("scaling", options.step, {"model", "batch", "image_px", "threads"});
  result.set("ranks", ranks.size());
  result.set("servers", options.servers.servers);
  result.set("update", name_of(options.servers.way));
  result.set("hosts", hosts_of(group));
  set_figures(options, ranks, sums, result);
  result.set("kind", is_emulated ? "emulated" : "measured");
  return result;
}

namespace {

// Options with equal texts share a line of the help.
constexpr const char* kFlagsDoc = "--batch is divided among processes; random images, no --data";

class ScalingCase final : public Case {
 public:
  ScalingCase()
      : Case("speed-up of training with more ranks; each point is a group of processes",
             "roentgen bench scaling --model resnet50 --batch 8 --ranks 1,2 --threads 1 --repeat 3") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({sizes_.options({"--batch", "--image", "--channels", "--warmup", "--steps"}),
                   network_.training_options(),
                   network_.options({"--allow-shared-gpu"}),
                   input_.options({"--data", "--pipeline", "--workers", "--emulate-storage"}),
                   ranks_.options({"--ranks", "--ranks-per-node", "--hosts", "--per-host", "--no-overlap",
                                   "--bucket-mb", "--reduce", "--wire"}),
                   servers_.options(),
                   {{.name = "--straggler",
                     .target = &straggler_,
                     .doc = "how many times slower the last simulated device is",
                     .range = {1, 1000}},
                    {.name = "--strong", .target = &is_strong_, .doc = kFlagsDoc},
                    {.name = "--synthetic", .target = &is_synthetic_, .doc = kFlagsDoc},
                    {.name = "--trace",
                     .target = &trace_folder_,
                     .doc = "folder for timelines of the steps (Chrome trace), such as ranks-2.json",
                     .value_name = "DIR"},
                    {.name = "--repeat",
                     .target = &rounds_,
                     .doc = "rounds that repeat all measurements in turn",
                     .range = {1, kMany}}}});
  }
  [[nodiscard]] Value run(const Host& host) override {
    if (is_synthetic_ && !input_.data.empty()) {
      throw ConfigError(
          error_text("cli.bench", "--synthetic", "no --data", input_.data[0], "either --synthetic or --data"));
    }
    ScalingOptions options{.step = network_.sized(sizes_),
                           .bucket_mb = ranks_.bucket_mb,
                           .is_overlapped = !ranks_.is_late,
                           .trace_folder = trace_folder_};
    options.device_images_per_s = take_emulated_device(options.step);
    options.servers = train::parse_server_options(servers_);
    train::check_server_messages(options.servers, ranks_.reduce, ranks_.wire.empty() ? "f32" : ranks_.wire);
    if (!ranks_.per_node.empty() && (ranks_.ranks != RankArguments{}.ranks || options.servers.has_servers())) {
      throw ConfigError(error_text("bench.scaling", "--ranks-per-node", "no --ranks and no --servers beside it", "both",
                                   "--ranks-per-node alone"));
    }
    options.straggler = straggler_;
    if (straggler_ > 1.0 && options.device_images_per_s <= 0.0) {
      throw ConfigError(
          error_text("bench.scaling", "--straggler", "an emulated device", "a real device", "--device emulated:100"));
    }
    options.step.graph = host.graph_of_file(options.step);
    std::optional<data::Dataset> dataset;
    if (!input_.data.empty()) {
      dataset = input_.dataset(host);
      options.dataset = &*dataset;
      options.input = input_.checked(sizes_, NetworkOptions{}.batch);
      options.input->channels = options.step.channels;
    }
    return dist::launched_rank() ? run_as_rank(options, host) : run_points(options, host);
  }

 private:
  [[nodiscard]] RankRequest request() const {
    RankRequest request{.may_oversubscribe = network_.may_oversubscribe};
    if (!ranks_.reduce.empty()) request.reduce = ranks_.reduce;
    if (!ranks_.wire.empty()) request.wire = ranks_.wire;
    return request;
  }

  // Measures one number of ranks ("point"): runs this process as one of its ranks.
  [[nodiscard]] Value run_as_rank(const ScalingOptions& options, const Host& host) const {
    log::set_level(log::Level::Warning);  // without messages that repeat for every point
    RankRequest rank = request();
    rank.threads = [&] { return options.device_images_per_s > 0.0 ? 0 : options.step.threads; };
    return host.join_ranks(rank, [&](dist::CommThread* group) { return run_scaling_point(options, group); });
  }

  // Measures all points of --ranks-per-node: the same number of threads on each host, divided among more and more
  // ranks.
  [[nodiscard]] Value run_layouts(const ScalingOptions& options, const Host& host) const {
    const auto hosts = std::max<std::int64_t>(1, std::ssize(comma_parts(ranks_.hosts)));
    const int usable = runtime::physical_cores(runtime::usable_cores());
    ScalingPlan plan{.ranks = {},
                     .cores = options.step.threads > 0 ? options.step.threads : usable,
                     .rounds = rounds_,
                     .is_strong = is_strong_,
                     .batch = options.step.batch};
    for (const std::int64_t each : ranks_.counts_per_node()) {
      if (each > plan.cores && !network_.may_oversubscribe) {
        throw ConfigError(error_text("bench.scaling", "--ranks-per-node",
                                     fmt::format("at most {}, a core each", plan.cores), fmt::to_string(each),
                                     "fewer ranks, or --oversubscribe"));
      }
      plan.ranks.push_back(each * hosts);
    }
    return run_scaling(plan, [&](std::int64_t count, std::int64_t batch) {
      RankRequest group = request();
      group.ranks = count;
      group.hosts = hosts_with_ranks(ranks_.hosts, count / hosts);
      return host.start_ranks(group, {"--batch", fmt::to_string(batch), "--threads",
                                      fmt::to_string(std::max<std::int64_t>(1, plan.cores * hosts / count))});
    });
  }

  // Measures all numbers of ranks ("points"). For each point, starts a group of processes that run this benchmark case.
  [[nodiscard]] Value run_points(const ScalingOptions& options, const Host& host) const {
    if (!ranks_.per_node.empty()) return run_layouts(options, host);
    const ScalingPlan plan{.ranks = ranks_.counts(),
                           .per_host = ranks_.per_host,
                           .rounds = rounds_,
                           .is_strong = is_strong_,
                           .batch = options.step.batch};
    const std::int64_t most = plan.per_host > 0 ? plan.per_host : std::ranges::max(plan.ranks);
    const int cores = runtime::physical_cores(runtime::usable_cores());
    const int threads = options.step.threads > 0 ? options.step.threads : std::max(1, cores / static_cast<int>(most));
    return run_scaling(plan, [&](std::int64_t count, std::int64_t batch) {
      RankRequest group = request();
      group.ranks = count + options.servers.servers;
      group.hosts = ranks_.hosts;
      return host.start_ranks(group, {"--batch", fmt::to_string(batch), "--threads", fmt::to_string(threads)});
    });
  }

  SizeArguments sizes_;
  NetworkArguments network_;
  InputArguments input_;
  RankArguments ranks_;
  train::ServerArguments servers_;
  double straggler_ = 1.0;
  bool is_strong_ = false;
  bool is_synthetic_ = false;
  std::string trace_folder_;
  std::int64_t rounds_ = 3;
};

}  // namespace

std::unique_ptr<Case> make_scaling_case() { return std::make_unique<ScalingCase>(); }

}  // namespace roentgen::bench
