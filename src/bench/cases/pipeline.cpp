// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/pipeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bench/case_list.h"
#include "bench/cases/pipeline_folders.h"
#include "bench/harness.h"
#include "bench/options.h"
#include "core/error.h"
#include "core/log.h"
#include "data/source/dataset.h"
#include "data/stage/loader.h"
#include "data/stage/memory_plan.h"
#include "runtime/memory.h"

namespace roentgen::bench {
namespace {

bool is_endless(const data::Pipeline& pipeline) {
  return std::ranges::any_of(pipeline.stages(), [](const data::Stage& stage) {
    const auto* repeat = std::get_if<data::RepeatStage>(&stage);
    return repeat != nullptr && repeat->times == 0;
  });
}

Value stage_table(const std::vector<data::StageReport>& report, double elapsed_s) {
  Value stages = Value::array();
  for (const auto& [stage, meter] : report) {
    const double pulls = std::max<double>(1.0, static_cast<double>(meter.items));
    stages.push_back(Value(Value::Table{{"stage", stage},
                                        {"items", meter.items},
                                        {"items_per_s", static_cast<double>(meter.items) / elapsed_s},
                                        {"threads", meter.threads},
                                        {"readers", meter.readers},
                                        {"capacity", meter.capacity},
                                        {"mean_depth", static_cast<double>(meter.depth_sum) / pulls},
                                        {"empty_waits", meter.empty_waits},
                                        {"full_waits", meter.full_waits},
                                        {"pull_s", meter.pull_s},
                                        {"busy_s", meter.busy_s}}));
  }
  return stages;
}

}  // namespace

PlannedInput plan_input(const data::Dataset& dataset, const InputOptions& options) {
  require_at_least("warmup", options.warmup, 0);
  require_at_least("steps", options.steps, 1);
  PlannedInput plan{.options = options, .size = batch_size(options), .memory = share_memory(dataset, options)};
  plan.size.slots = plan.memory.slots;
  plan.options.most_readers = std::min(options.most_readers, plan.memory.readers);
  const bool has_end = !is_endless(options.pipeline);
  plan.steps = has_end ? options.steps : steps_beyond_buffers(dataset, options);
  plan.settle_s = has_end ? 0.0 : kMostSettling_s;
  return plan;
}

Value run_pipeline(const data::Dataset& dataset, const InputOptions& options) {
  const PlannedInput plan = plan_input(dataset, options);
  const data::MemoryShares& memory = plan.memory;
  const std::int64_t steps = plan.steps;
  const std::unique_ptr<Consumer> device = make_emulated_device(options.device_images_per_s, plan.size);
  Input input(dataset, plan.options, device->slots(dataset.label_names.size()));
  const std::optional<std::int64_t> kept = input.kept_before();
  data::Loader& loader = input.loader();
  if (steps > options.steps) {
    log::info(fmt::format("measuring {} batches (whole passes), because a shuffle buffer could hold the images of {}",
                          steps, options.steps));
  }
  const auto begin = Clock::now();
  const Course course =
      take_batches(input, *device, {.warmup = options.warmup, .settle_s = plan.settle_s, .steps = steps});
  if (kept && *kept < std::ssize(dataset.samples) && course.cached_share > 0.0) {
    log::info(fmt::format(
        "{:.0f}% of the measured images came from the cache: the result is the speed of memory, not of a first pass",
        100.0 * course.cached_share));
  }
  const double elapsed_s = seconds_since(begin);
  const data::LoaderStats stats = loader.stats();
  const double loaded = std::max<double>(1.0, static_cast<double>(stats.samples));

  Value result = Value::table();
  result.set("case", "pipeline");
  result.set("pipeline", options.pipeline.text());
  add_settings(result, dataset, options);
  result.set("slot_dtype", name_of(options.slot_dtype));
  result.set("input", options.preprocess ? Value(options.preprocess->text()) : Value());
  result.set("augmentation", options.preprocess ? Value(options.augment.text()) : Value());
  result.set("warmup", options.warmup);
  result.set("n", steps);
  result.set("device", device->is_emulated() ? Value(device->name()) : Value());
  result.set("cache_kept", kept ? Value(*kept) : Value());
  result.set("cached_share", kept ? Value(course.cached_share) : Value());
  result.set("memory", Value::Table{{"budget_bytes", static_cast<std::int64_t>(memory.budget_bytes)},
                                    {"bytes", static_cast<std::int64_t>(data::total_bytes(memory.uses))},
                                    {"slots", memory.slots}});
  result.set("emulated", options.storage.has_value() || device->is_emulated());
  result.set("images_per_s", course.images_per_s());
  result.set("per_core", static_cast<double>(course.images) / course.processor_s);
  result.set("batch_ms", summary_ms(course.batch_s));
  result.set("wait_share", course.wait_share());
  result.set("bound", bound_of(course, *device));
  result.set("read_ms", 1e3 * stats.read_s / loaded);
  result.set("decode_ms", 1e3 * stats.decode_s / loaded);
  result.set("transform_ms", 1e3 * stats.transform_s / loaded);
  result.set("read_bytes", static_cast<double>(stats.read_bytes) / loaded);
  result.set("stages", stage_table(loader.report(), elapsed_s));
  result.set("rss_bytes", static_cast<std::int64_t>(runtime::peak_resident_memory_bytes()));
  result.set("checksum", course.checksum);
  warn_of_settling(result, plan.settle_s > 0.0 && !course.has_settled ? 1 : 0);
  add_environment(result);
  return result;
}

namespace {

class PipelineCase final : public Case {
 public:
  PipelineCase()
      : Case("throughput from disk to batches, without a network, and the slowest stage",
             "roentgen bench pipeline --data images/ --image 224 --batch 64 --workers 2\n"
             "roentgen bench pipeline --data images/ --pipeline naive --device emulated:1200 --cold\n"
             "roentgen bench pipeline --data /lustre/nih --compare-data /scratch/nih --cold") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({input_.options({"--data", "--pipeline", "--recipe", "--workers", "--input-cores", "--cache-dir",
                                   "--memory-budget", "--slot-dtype", "--cold", "--emulate-storage", "--device"}),
                   sizes_.options({"--batch", "--image", "--channels", "--warmup", "--steps"}),

                   ranks_.options({"--ranks"}),
                   {rounds_option(rounds_),
                    {.name = "--compare-data",
                     .target = &others_,
                     .doc = "copies of the --data folder on other storage, to compare with it",
                     .value_name = "DIR",
                     .is_input = true}}});
  }
  [[nodiscard]] Value run(const Host& host) override {
    const data::Dataset dataset = input_.dataset(host);
    InputOptions options = input_.checked(sizes_);
    options.ranks = static_cast<int>(ranks_.count());
    if (!others_.empty()) {
      return compare_folders(folders(dataset, host), options, rounds_);
    }
    if (rounds_ != kUsualRounds) {
      throw ConfigError(error_text("cli.bench", "--rounds", "also --compare-data DIR", "one measurement",
                                   "--compare-data DIR, or no --rounds"));
    }
    return run_pipeline(dataset, options);
  }

 private:
  static constexpr std::int64_t kUsualRounds = 3;

  // The folder --data and its copies.
  [[nodiscard]] std::vector<ImageFolder> folders(const data::Dataset& dataset, const Host& host) const {
    if (input_.data.size() != 1 || !input_.input.cache_dir.empty()) {
      throw ConfigError(error_text("cli.bench", "--compare-data", "one --data folder, and no --cache-dir",
                                   input_.data.size() != 1 ? "several folders" : "--cache-dir",
                                   "--data DIR --compare-data DIR"));
    }
    std::vector<ImageFolder> folders{{.name = input_.data.front(), .dataset = dataset}};
    for (const std::string& other : others_) folders.push_back({.name = other, .dataset = host.images({other})});
    return folders;
  }

  SizeArguments sizes_;
  InputArguments input_;
  RankArguments ranks_;
  std::int64_t rounds_ = kUsualRounds;
  std::vector<std::string> others_;
};

}  // namespace

std::unique_ptr<Case> make_pipeline_case() { return std::make_unique<PipelineCase>(); }

}  // namespace roentgen::bench
