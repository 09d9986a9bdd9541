// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen bench: named benchmark cases with a checked answer. --json FILE has all of the result, for machines.
#include <fmt/format.h>

#include <algorithm>

#include "bench/ablation.h"
#include "bench/consumer.h"
#include "bench/experiment.h"
#include "bench/formats.h"
#include "bench/harness.h"
#include "bench/overlap.h"
#include "bench/pipeline.h"
#include "bench/step.h"
#include "cli/bench_cases.h"
#include "cli/bench_ranks.h"
#include "cli/command_list.h"
#include "cli/image_list.h"
#include "cli/model_option.h"
#include "cli/output_file.h"
#include "cli/report_text.h"
#include "core/error.h"
#include "core/log.h"
#include "runtime/core_list.h"

namespace roentgen::cli {
namespace {

constexpr std::string_view kNone = "none";

class BenchCommand final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "bench"; }
  [[nodiscard]] std::string_view summary() const override {
    return "Run a benchmark case: step, pipeline, overlap, formats, ablation, experiment, allreduce, links, ...";
  }
  [[nodiscard]] std::string_view examples() const override {
    return "roentgen bench step --model resnet50 --batch 16 --image 224 --warmup 3 --steps 10 --threads 2 --json "
           "step.json\n"
           "roentgen bench step --model densenet121 --profile\n"
           "roentgen bench pipeline --data images/ --image 224 --batch 64 --workers 2\n"
           "roentgen bench pipeline --data images/ --pipeline naive --device emulated:1200 --cold\n"
           "roentgen bench overlap --data images/ --model resnet50 --batch 16 --input-cores 0\n"
           "roentgen bench formats --data images/ --work /tmp --resize 256\n"
           "roentgen bench ablation --data images/ --emulate-storage open=2ms,read=1ms\n"
           "roentgen bench experiment --data images/ --work /tmp --batch 16 --emulate-storage open=2ms,read=1ms\n"
           "mpirun -np 2 roentgen bench allreduce --most 64\n"
           "mpirun -np 2 roentgen bench links\n"
           "roentgen bench --list";
  }
  [[nodiscard]] std::vector<Option> options() override {
    std::vector<Option> options;
    for (const CaseOption& each : case_options()) {
      usual_.push_back(held(each.option.target));
      options.push_back(each.option);
      if (each.cases != kAll) options.back().doc = fmt::format("{}: {}", names_of(each.cases), each.option.doc);
    }
    return options;
  }

  [[nodiscard]] Folders folders() const override { return {.read = {data_.begin(), data_.end()}}; }

  [[nodiscard]] CommandResult run() override {
    if (is_list_) {
      for (const auto& [name, bit] : kBenchCases) fmt::print("{}\n", name);
      for (const std::string_view name : bench::case_names()) {
        if (bit_of(name) == kOther) fmt::print("{}\n", name);
      }
      return {};
    }
    refuse_options_of_others();
    if ((bit_of(case_) & kWithInput) != 0 && data_.empty()) {
      throw ConfigError(error_text("cli.bench", "--data", "images or folders of images", "none", "--data DIR"));
    }
    Value json = run_case();
    if (json.is_null()) return {.tells = false};
    fmt::print("{}",
               report_text(json, {"warnings", "layers", "memory_bytes", "kernel", "variables", "libraries", "links"}));
    if (const Value* warnings = json.find("warnings")) {
      for (const Value& warning : warnings->as_array()) log::warning(warning.as_string());
    }
    return {.json = std::move(json)};
  }

 private:
  [[nodiscard]] std::vector<CaseOption> case_options();
  // An option that changes nothing would leave its user with a figure of something else.
  void refuse_options_of_others() {
    const std::vector<CaseOption> options = case_options();
    for (std::size_t i = 0; i < options.size(); ++i) {
      const auto& [cases, option] = options[i];
      if ((cases & bit_of(case_)) != 0 || held(option.target) == usual_[i]) continue;
      throw ConfigError(error_text("cli.bench", option.name, fmt::format("one of the cases {}", names_of(cases)), case_,
                                   fmt::format("bench {}", names_of(cases).substr(0, names_of(cases).find(',')))));
    }
  }

  [[nodiscard]] Value run_case() {
    switch (bit_of(case_)) {
      case kStep:
        return run_step();
      case kPipeline:
        return bench::run_pipeline(images_or_records(data_), pipeline_options());
      case kOverlap:
        return run_overlap();
      case kFormats:
        return run_formats();
      case kExperiment:
        return run_experiment();
      case kAllreduce:
        ranks_bench_.rounds = rounds_;
        return run_allreduce_case(ranks_bench_);
      case kLinks:
        ranks_bench_.rounds = rounds_;
        return run_links_case(ranks_bench_);
      case kAblation:
        return bench::run_ablation(images_or_records(data_), {.input = pipeline_options(), .rounds = rounds_});
      default:
        return bench::run_case(case_, {.warmup = step_.warmup,
                                       .repeats = step_.steps,
                                       .threads = bench::threads_of(threads_, may_oversubscribe_)});
    }
  }

  [[nodiscard]] Value run_step() {
    step_.threads = bench::threads_of(threads_, may_oversubscribe_);
    step_.device = device_;
    if (batch_ > 0) step_.batch = batch_;
    if (channels_ > 0) step_.channels = channels_;
    take_graph();
    return bench::run_step(step_);
  }

  [[nodiscard]] Value run_overlap() {
    bench::OverlapOptions options{.input = pipeline_options(), .rounds = rounds_};
    step_.threads = static_cast<int>(threads_);
    if (options.input.device_images_per_s <= 0.0) {
      step_.device = device_;
      step_.batch = options.input.batch;
      step_.channels = options.input.channels;
      take_graph();
    }
    options.step = step_;
    return bench::run_overlap(images_or_records(data_), options);
  }

  void require_work() const {
    if (work_.empty()) {
      throw ConfigError(error_text("cli.bench", "--work", "a folder for record files", "none", "--work DIR"));
    }
    for (const std::string& data : data_) refuse_inside_data("--work", work_, data);
  }

  [[nodiscard]] Value run_formats() const {
    require_work();
    bench::FormatsOptions options{
        .input = pipeline_options(), .stored_px = stored_px_, .work = work_, .cell_s = cell_s_, .rounds = rounds_};
    options.input.steps = kMostSteps;
    return bench::run_formats(images_or_records(data_), options);
  }

  [[nodiscard]] Value run_experiment() const {
    require_work();
    bench::ExperimentOptions options{.input = pipeline_options(),
                                     .models = names_in(models_ == kNone ? "" : models_),
                                     .rates = bench::parse_rates(rates_ == kNone ? "" : rates_),
                                     .step = step_,
                                     .work = work_,
                                     .cell_s = cell_s_,
                                     .rounds = rounds_};
    options.input.steps = kMostSteps;
    options.step.threads = static_cast<int>(threads_);
    return bench::run_experiment(images_or_records(data_), options);
  }

  // A --model that names a file.
  void take_graph() {
    train::ModelRecipe model;
    set_model(model, step_.model);
    if (model.file.empty()) return;
    graph_ = make_model(
        model, {.batch = step_.batch, .channels = step_.channels, .image_px = step_.image_px, .labels = step_.labels});
    step_.graph = &*graph_;
  }

  [[nodiscard]] bench::PipelineOptions pipeline_options() const {
    bench::PipelineOptions options{.pipeline = data::parse_pipeline(pipeline_text_),
                                   .image_px = step_.image_px,
                                   .workers = static_cast<int>(workers_),
                                   .warmup = step_.warmup,
                                   .steps = step_.steps,
                                   .is_cold = is_cold_};
    const unsigned bit = bit_of(case_);
    if ((bit & kWithModel) != 0) options.batch = bench::StepOptions{}.batch;
    options.ranks = ranks_ > 0 ? static_cast<int>(ranks_) : bit == kAblation ? bench::AblationOptions{}.input.ranks : 1;
    if (batch_ > 0) options.batch = batch_;
    if (channels_ > 0) options.channels = channels_;
    if (!recipe_.empty()) {
      const train::Recipe recipe = train::read_recipe(recipe_, {});
      if (step_.image_px != bench::StepOptions{}.image_px || channels_ > 0) {
        throw ConfigError(error_text("cli.bench", "--image and --channels", "none beside --recipe, which has its own",
                                     "one", "a [preprocess] section that says them"));
      }
      options.preprocess = recipe.preprocess;
      options.augment = recipe.augment;
      options.image_px = recipe.preprocess.size_px;
      options.channels = recipe.preprocess.channels;
    }
    for (const std::string& data : data_) {
      if (!cache_dir_.empty()) refuse_inside_data("--cache-dir", cache_dir_, data);
    }
    options.cache_dir = cache_dir_;
    options.memory_mb = memory_mb_;
    if (!input_cores_.empty()) options.cores = runtime::parse_core_list(input_cores_);
    if (!storage_.empty()) options.storage = data::parse_storage_costs(storage_);
    const bool is_engine = (bit & kWithModel) != 0 && !bench::is_emulated_device(device_);
    if (device_ != kEngine && !is_engine) options.device_images_per_s = bench::parse_emulated_device(device_);
    return options;
  }

  static constexpr std::string_view kEngine = "cpu";
  /// Where time ends a measurement.
  static constexpr std::int64_t kMostSteps = 100'000;

  std::string case_ = "step";
  bool is_list_ = false;
  std::int64_t threads_ = 0;
  bool may_oversubscribe_ = false;
  bench::StepOptions step_;
  std::optional<graph::Graph> graph_;
  std::int64_t batch_ = 0;
  std::int64_t channels_ = 0;
  std::string device_{kEngine};
  std::vector<std::string> data_;
  std::string pipeline_text_ = "default";
  std::filesystem::path recipe_;
  std::int64_t workers_ = 0;
  std::string input_cores_;
  std::filesystem::path cache_dir_;
  std::int64_t memory_mb_ = 0;
  bool is_cold_ = false;
  std::string storage_;
  std::int64_t rounds_ = 3;
  std::int64_t ranks_ = 0;
  RanksBench ranks_bench_;
  std::filesystem::path work_;
  std::int64_t stored_px_ = bench::FormatsOptions{}.stored_px;
  std::string models_ = "resnet50,densenet121";
  std::string rates_ = "200,1000,5000";
  double cell_s_ = bench::FormatsOptions{}.cell_s;
  /// What the options hold unless they are given, in their order.
  std::vector<std::string> usual_;
};

std::vector<CaseOption> BenchCommand::case_options() {
  constexpr double kMany = 1e6;
  return {
      {kAll, {.name = "CASE", .target = &case_, .doc = "name of the case"}},
      {kAll, {.name = "--list", .target = &is_list_, .doc = "list the cases"}},
      {kWithInput, {.name = "--data", .target = &data_, .doc = "images and folders of images, labels not needed"}},
      {kPipeline | kOverlap | kFormats,
       {.name = "--pipeline", .target = &pipeline_text_, .doc = "its name, or stages with | between them"}},
      {kPipeline, {.name = "--recipe", .target = &recipe_, .doc = "TOML file; its [preprocess] and [augment]"}},
      {kWithInput,
       {.name = "--workers",
        .target = &workers_,
        .doc = "decoding threads; 0 = as many as cores",
        .least = 0,
        .most = 1024}},
      {kPipeline | kOverlap,
       {.name = "--input-cores",
        .target = &input_cores_,
        .doc = "cores of all input threads, as 0-1,4; the rest computes"}},
      {kPipeline,
       {.name = "--cache-dir",
        .target = &cache_dir_,
        .doc = "keep decoded images in a file here, as train does",
        .value_name = "DIR"}},
      {kPipeline,
       {.name = "--memory-budget",
        .target = &memory_mb_,
        .doc = "MiB for all input; 0 = half of what is left",
        .least = 0,
        .most = 1e9}},
      {kPipeline | kOverlap | kAblation,
       {.name = "--cold", .target = &is_cold_, .doc = "drop files from the page cache before they are read"}},
      {kWithInput,
       {.name = "--emulate-storage",
        .target = &storage_,
        .doc = "as on slow storage: open=2ms,read=1ms,opens_per_s=1000"}},
      {kPipeline | kAblation,
       {.name = "--ranks",
        .target = &ranks_,
        .doc = "as rank 0 of so many; 0 = 1, ablation 2",
        .least = 0,
        .most = 4096}},
      {kWithRecords,
       {.name = "--work", .target = &work_, .doc = "folder for record files, removed afterwards", .value_name = "DIR"}},
      {kFormats,
       {.name = "--resize",
        .target = &stored_px_,
        .doc = "side of images stored smaller, px",
        .least = 1,
        .most = 16384}},
      {kExperiment, {.name = "--models", .target = &models_, .doc = "networks to train, with commas, or none"}},
      {kExperiment,
       {.name = "--rates", .target = &rates_, .doc = "emulated accelerators, images a second, with commas, or none"}},
      {kWithRecords,
       {.name = "--cell-seconds",
        .target = &cell_s_,
        .doc = "longest measurement of a cell or form in a round",
        .least = 0.001,
        .most = 3600}},
      {kOfRounds, {.name = "--rounds", .target = &rounds_, .doc = "interleaved rounds", .least = 1, .most = kMany}},
      {kAllreduce,
       {.name = "--reduce", .target = &ranks_bench_.ways, .doc = "ways to average, with commas; empty: all"}},
      {kAllreduce, {.name = "--wire", .target = &ranks_bench_.wires, .doc = "f32, bf16; empty: both"}},
      {kAllreduce,
       {.name = "--most", .target = &ranks_bench_.most_mib, .doc = "largest bucket, MiB", .least = 1, .most = 2048}},
      {kLinks,
       {.name = "--slow",
        .target = &ranks_bench_.slow_factor,
        .doc = "a link is slow so many times beyond the median",
        .least = 1.01,
        .most = kMany}},
      {kAll & ~kOverRanks,
       {.name = "--warmup", .target = &step_.warmup, .doc = "runs before those measured", .least = 0, .most = kMany}},
      {kAll & ~kWithRecords & ~kOverRanks,
       {.name = "--steps", .target = &step_.steps, .doc = "runs measured", .least = 1, .most = kMany}},
      {kWithModel | kOther,
       {.name = "--threads", .target = &threads_, .doc = "compute threads; 0 = all cores", .least = 0, .most = kMany}},
      {kStep | kOther,
       {.name = "--oversubscribe", .target = &may_oversubscribe_, .doc = "also more threads than the machine has"}},
      {kOfOneModel, {.name = "--model", .target = &step_.model, .doc = "name of a model, or file with a graph text"}},
      {kStep | kWithInput,
       {.name = "--batch",
        .target = &batch_,
        .doc = "images a batch; 0 = 16 with a model, else 64",
        .least = 0,
        .most = 65536}},
      {kStep | kWithInput,
       {.name = "--image", .target = &step_.image_px, .doc = "side of the image, px", .least = 1, .most = 65536}},
      {kStep | kWithInput,
       {.name = "--channels", .target = &channels_, .doc = "1 or 3; 0 = 1, step 3", .least = 0, .most = 3}},
      {kWithModel, {.name = "--labels", .target = &step_.labels, .doc = "outputs", .least = 1, .most = kMany}},
      {kOfOneModel | kPipeline | kAblation,
       {.name = "--device", .target = &device_, .doc = "engine; with images also emulated:RATE, images a second"}},
      {kWithModel, {.name = "--fuse", .target = &step_.fuse, .doc = "graph passes: on, off or names"}},
      {kWithModel, {.name = "--algorithms", .target = &step_.algorithms, .doc = "convolutions: direct or auto"}},
      {kStep, {.name = "--profile", .target = &step_.has_profile, .doc = "time of every kind of kernel"}}};
}

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace roentgen::cli
