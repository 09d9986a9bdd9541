// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/overlap.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/case_list.h"
#include "bench/consumer.h"
#include "bench/harness.h"
#include "bench/options.h"
#include "bench/rounds.h"
#include "core/error.h"
#include "data/source/dataset.h"
#include "runtime/core_list.h"
#include "runtime/cores.h"

namespace roentgen::bench {
namespace {

enum Kind : std::size_t { kInput, kTrain, kSequential, kOverlapped, kKinds };

// Returns the cores for computing: all cores that input does not use.
runtime::CoreList compute_cores(const InputOptions& input) {
  return input.cores.empty() ? runtime::CoreList{} : runtime::other_cores(input.cores);
}

int compute_threads(const OverlapOptions& options, const runtime::CoreList& cores) {
  if (cores.empty()) return threads_of(options.step.threads, false);
  if (options.step.threads == 0) return runtime::physical_cores(cores);
  const auto most = static_cast<int>(cores.size());
  if (options.step.threads <= most) return options.step.threads;
  throw ConfigError(error_text("bench.overlap", "threads",
                               "at most one thread per core that --input-cores leaves free, " + runtime::text_of(cores),
                               std::to_string(options.step.threads), "fewer --threads"));
}

std::unique_ptr<Consumer> make_consumer(const OverlapOptions& options, const runtime::CoreList& cores) {
  const BatchSize size = batch_size(options.input);
  if (options.input.device_images_per_s > 0.0) return make_emulated_device(options.input.device_images_per_s, size);
  NetworkOptions step = options.step;
  step.batch = options.input.batch;
  step.image_px = options.input.image_px;
  step.channels = options.input.channels;
  return make_training_step(step, {.threads = compute_threads(options, cores), .slots = size.slots});
}

// Measures the four kinds of steps that the case compares.
class Kinds {
 public:
  Kinds(const data::Dataset& dataset, const OverlapOptions& options, Consumer& consumer)
      : dataset_(dataset),
        input_(options.input),
        consumer_(consumer),
        slots_(consumer.slots(dataset.label_names.size())),
        counts_{.warmup = std::max(options.input.warmup, std::ssize(slots_)),
                .settle_s = options.input.most_s,
                .steps = options.input.steps,
                .most_s = options.input.most_s} {
    input_.slot_dtype = consumer.slot_dtype().value_or(input_.slot_dtype);
  }

  Course run(std::size_t kind) {
    const std::unique_ptr<Consumer> nothing = make_emulated_device(0.0, {.images = 0, .slots = 0});
    switch (kind) {
      case kTrain:
        return take_one_batch(consumer_, input_.batch, counts_);
      case kInput:
        return take(slots_, *nothing);
      case kSequential:  // the next batch cannot load, because the only slot is in use until the step ends
        return take({slots_.front()}, consumer_);
      default:
        return take(slots_, consumer_);
    }
  }

 private:
  Course take(const std::vector<data::BatchSlot>& slots, Consumer& consumer) {
    Input input(dataset_, input_, slots);
    return take_batches(input, consumer, counts_);
  }

  const data::Dataset& dataset_;
  InputOptions input_;
  Consumer& consumer_;
  const std::vector<data::BatchSlot> slots_;
  const BatchCounts counts_;
};

Value limit_row(const std::vector<StepTimes>& rounds, Cores cores, int core_count) {
  const auto least = [&](const StepTimes& times) { return least_step_s(times, cores, core_count); };
  const double ratio = median_of(rounds, [&](const StepTimes& times) { return times.overlapped_s / least(times); });
  return Value::Table{{"cores", name_of(cores)},
                      {"least", cores == Cores::Disjoint ? "max(input, train)" : "train + input_work / cores"},
                      {"least_ms", 1e3 * median_of(rounds, least)},
                      {"ratio", ratio},
                      {"allowed", kOverlapFactor},
                      {"holds", ratio <= kOverlapFactor}};
}

Value round_table(const std::vector<StepTimes>& rounds, Cores cores, int core_count) {
  Value table = Value::array();
  for (const StepTimes& times : rounds) {
    table.push_back(Value::Table{{"input_ms", 1e3 * times.input_s},
                                 {"train_ms", 1e3 * times.train_s},
                                 {"sequential_ms", 1e3 * times.sequential_s},
                                 {"overlapped_ms", 1e3 * times.overlapped_s},
                                 {"input_work_ms", 1e3 * times.input_work_s},
                                 {"ratio", times.overlapped_s / least_step_s(times, cores, core_count)}});
  }
  return table;
}

Value step_table(const std::vector<StepTimes>& rounds) {
  Value table = Value::table();
  const auto set = [&](std::string_view name, double StepTimes::*time) {
    table.set(name, 1e3 * median_of(rounds, [&](const StepTimes& times) { return times.*time; }));
  };
  set("input", &StepTimes::input_s);
  set("train", &StepTimes::train_s);
  set("sequential", &StepTimes::sequential_s);
  set("overlapped", &StepTimes::overlapped_s);
  set("input_work", &StepTimes::input_work_s);
  return table;
}

}  // namespace

std::string_view name_of(Cores cores) { return cores == Cores::Disjoint ? "disjoint" : "shared"; }

double least_step_s(const StepTimes& times, Cores cores, int core_count) {
  if (cores == Cores::Disjoint) return std::max(times.input_s, times.train_s);
  return times.train_s + times.input_work_s / core_count;
}

std::vector<std::string> signs_of_other_work(const std::vector<KindOfSteps>& kinds) {
  std::vector<std::string> signs;
  const auto look = [&signs](std::string_view kind, std::string_view what, std::span<const double> times) {
    if (const auto sign = sign_of_spread(what, times)) signs.push_back(fmt::format("{}: {}", kind, *sign));
  };
  for (const auto& [name, rounds, is_steady] : kinds) {
    std::vector<double> round_s;
    for (const Course& course : rounds) {
      round_s.push_back(course.step_s());
      if (is_steady) look(name, "step", course.batch_s);
    }
    look(name, "round", round_s);
  }
  return signs;
}

Value run_overlap(const data::Dataset& dataset, const OverlapOptions& options) {
  require_at_least("warmup", options.input.warmup, 0);
  require_at_least("steps", options.input.steps, 1);
  require_at_least("rounds", options.rounds, 1);
  const int core_count = runtime::available_cores();
  const runtime::CoreList computing = compute_cores(options.input);
  const runtime::BoundToCores bound(computing);  // must be set before the first compute thread starts
  const std::unique_ptr<Consumer> consumer = make_consumer(options, computing);
  Kinds kinds(dataset, options, *consumer);
  const auto courses = interleave(kKinds, options.rounds, [&](std::size_t kind) { return kinds.run(kind); });
  std::vector<StepTimes> rounds;
  for (std::size_t i = 0; i < courses[kInput].size(); ++i) {
    const Course& input = courses[kInput][i];
    rounds.push_back({.input_s = input.step_s(),
                      .train_s = courses[kTrain][i].step_s(),
                      .sequential_s = courses[kSequential][i].step_s(),
                      .overlapped_s = courses[kOverlapped][i].step_s(),
                      .input_work_s = input.processor_s / static_cast<double>(input.batch_s.size())});
  }
  const Cores cores = consumer->is_emulated() || !computing.empty() ? Cores::Disjoint : Cores::Shared;

  Value result = Value::table();
  result.set("case", "overlap");
  result.set("consumer", consumer->name());
  result.set("pipeline", options.input.pipeline.text());
  add_settings(result, dataset, options.input);
  result.set("slot_dtype", name_of(consumer->slot_dtype().value_or(options.input.slot_dtype)));
  result.set("threads", consumer->threads());
  result.set("warmup", options.input.warmup);
  result.set("n", std::ssize(courses[kOverlapped].back().batch_s));
  result.set("rounds", options.rounds);
  result.set("emulated", options.input.storage.has_value() || consumer->is_emulated());
  result.set("images_per_s",
             median_of(courses[kOverlapped], [](const Course& course) { return course.images_per_s(); }));
  result.set("step_ms", step_table(rounds));
  result.set("gain", median_of(rounds, [](const StepTimes& t) { return t.sequential_s / t.overlapped_s; }));
  result.set("wait_share", median_of(courses[kOverlapped], [](const Course& course) { return course.wait_share(); }));
  result.set("bound", bound_of(courses[kOverlapped].back(), *consumer));
  result.set("cores", name_of(cores));
  Value& limits = result.set("limits", Value::array());
  for (const Cores each : {Cores::Disjoint, Cores::Shared}) limits.push_back(limit_row(rounds, each, core_count));
  result.set("by_round", round_table(rounds, cores, core_count));
  Value& warnings = result.set("warnings", Value::array());
  const bool is_real = !consumer->is_emulated();
  const bool has_time = std::ranges::all_of(
      courses[kOverlapped], [&](const Course& course) { return bound_of(course, *consumer) == "compute"; });
  for (std::string& text : signs_of_other_work({{"input", courses[kInput], false},
                                                {"train", courses[kTrain], is_real},
                                                {"sequential", courses[kSequential], false},
                                                {"overlapped", courses[kOverlapped], is_real && has_time}})) {
    warnings.push_back(std::move(text));
  }
  add_environment(result);
  return result;
}

namespace {

class OverlapCase final : public Case {
 public:
  OverlapCase()
      : Case("the gain of prefetching: steps with input only, training only, and input during training",
             "roentgen bench overlap --data images/ --model resnet50 --batch 16 --input-cores 0") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({input_.options({"--data", "--pipeline", "--workers", "--readers", "--input-cores", "--cold",
                                   "--cell-seconds", "--emulate-storage"}),
                   sizes_.options({"--batch", "--image", "--channels", "--warmup", "--steps"}),
                   network_.options({"--model", "--labels", "--device", "--threads", "--fuse", "--algorithms",
                                     "--dtype", "--recompute"}),
                   {rounds_option(rounds_)}});
  }
  [[nodiscard]] Value run(const Host& host) override {
    const data::Dataset dataset = input_.dataset(host);
    OverlapOptions options{.input = input_.checked(sizes_, NetworkOptions{}.batch), .rounds = rounds_};
    options.step = network_.sized(sizes_, options.input.channels);
    options.input.device_images_per_s = take_emulated_device(options.step);
    if (options.input.device_images_per_s <= 0.0) options.step.graph = host.graph_of_file(options.step);
    return run_overlap(dataset, options);
  }

 private:
  SizeArguments sizes_;
  NetworkArguments network_;
  InputArguments input_;
  std::int64_t rounds_ = 3;
};

}  // namespace

std::unique_ptr<Case> make_overlap_case() { return std::make_unique<OverlapCase>(); }

}  // namespace roentgen::bench
