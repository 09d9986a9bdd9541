// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen bench: named benchmark cases with a checked answer. --json FILE has all of the result, for machines.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "bench/ablation.h"
#include "bench/autobatch.h"
#include "bench/consumer.h"
#include "bench/experiment.h"
#include "bench/formats.h"
#include "bench/fusion.h"
#include "bench/harness.h"
#include "bench/infer.h"
#include "bench/overlap.h"
#include "bench/peers.h"
#include "bench/pipeline.h"
#include "bench/step.h"
#include "cli/bench_choose.h"
#include "cli/bench_nodes.h"
#include "cli/bench_options.h"
#include "cli/bench_ranks.h"
#include "cli/command_list.h"
#include "cli/model_option.h"
#include "cli/output_file.h"
#include "cli/report_text.h"
#include "core/error.h"
#include "core/log.h"
#include "core/terminal.h"
#include "data/source/image_list.h"
#include "runtime/core_list.h"

namespace roentgen::cli {
namespace {

constexpr std::string_view kNone = "none";
constexpr std::string_view kExperimentModels = "resnet50,densenet121";

class BenchCommand final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "bench"; }
  [[nodiscard]] std::string_view summary() const override {
    return "Run a benchmark case: step, infer, fusion, autobatch, choose, peers, pipeline, overlap, formats, ablation, "
           "experiment, allreduce, links, nodes, ...";
  }
  [[nodiscard]] std::string_view examples() const override {
    return "roentgen bench step --model resnet50 --batch 16 --image 224 --warmup 3 --steps 10 --threads 2 --json "
           "step.json\n"
           "roentgen bench step --model densenet121 --profile\n"
           "roentgen bench infer --model densenet121 --image 224 --batch 1,4,16 --threads 2 --json infer.json\n"
           "roentgen bench fusion --models resnet50,densenet121 --batch 8 --rounds 3 --threads 2\n"
           "roentgen bench autobatch --model densenet121 --image 512 --memory 8GiB\n"
           "roentgen bench choose --models resnet50 --batch 16 --write choices.json\n"
           "roentgen bench peers --model resnet50 --batch 16 --rounds 3 --threads 2 --python /usr/bin/python3\n"
           "roentgen bench pipeline --data images/ --image 224 --batch 64 --workers 2\n"
           "roentgen bench pipeline --data images/ --pipeline naive --device emulated:1200 --cold\n"
           "roentgen bench overlap --data images/ --model resnet50 --batch 16 --input-cores 0\n"
           "roentgen bench formats --data images/ --work /tmp --resize 256\n"
           "roentgen bench ablation --data images/ --emulate-storage open=2ms,read=1ms\n"
           "roentgen bench experiment --data images/ --work /tmp --batch 16 --emulate-storage open=2ms,read=1ms\n"
           "mpirun -np 2 roentgen bench allreduce --most 64\n"
           "mpirun -np 2 roentgen bench links\n"
           "roentgen bench nodes --ranks 4 --hosts a:1,b:1,c:1,d:1 --model resnet18 --batch 8 --image 64\n"
           "roentgen bench --list";
  }
  [[nodiscard]] std::vector<Option> options() override {
    std::vector<Option> options;
    for (const CaseOption& each : case_options(in_)) {
      usual_.push_back(held(each.option.target));
      options.push_back(each.option);
      if (each.cases != kAll) options.back().doc = fmt::format("{}: {}", names_of(each.cases), each.option.doc);
    }
    return options;
  }

  [[nodiscard]] std::vector<Option> options_of(std::string_view argument) override {
    std::vector<Option> options;
    for (CaseOption& each : case_options(in_)) {
      if ((each.cases & bit_of(argument)) != 0) options.push_back(std::move(each.option));
    }
    return options;
  }

  [[nodiscard]] Folders folders() const override { return {.read = {in_.data.begin(), in_.data.end()}}; }

  [[nodiscard]] CommandResult run() override {
    if (in_.is_list) {
      for (const std::string_view name : all_cases()) terminal::print(fmt::format("{}\n", name));
      return {};
    }
    check_case(in_.case_name);
    refuse_options_of_others();
    if (!in_.algorithms.empty()) in_.step.algorithms = in_.algorithms;
    if ((bit_of(in_.case_name) & kWithInput) != 0 && in_.data.empty()) {
      throw ConfigError(error_text("cli.bench", "--data", "images or folders of images", "none", "--data DIR"));
    }
    Value json = run_case();
    if (json.is_null()) return {.json = {}, .is_silent = true};
    terminal::print(
        report_text(json, {"warnings", "layers", "memory_bytes", "kernel", "variables", "libraries", "links"}));
    if (const Value* warnings = is_own_rank() ? nullptr : json.find("warnings")) {  // its launcher warns
      for (const Value& warning : warnings->as_array()) log::warning(warning.as_string());
    }
    const int exit_code = has_failed(json) ? kFailure : kSuccess;
    return {.json = std::move(json), .exit_code = exit_code};
  }

 private:
  // An option that changes nothing would leave its user with a figure of something else.
  void refuse_options_of_others() {
    const std::vector<CaseOption> options = case_options(in_);
    for (std::size_t i = 0; i < options.size(); ++i) {
      const auto& [cases, option] = options[i];
      if ((cases & bit_of(in_.case_name)) != 0 || held(option.target) == usual_[i]) continue;
      throw ConfigError(error_text("cli.bench", option.name, fmt::format("one of the cases {}", names_of(cases)),
                                   in_.case_name,
                                   fmt::format("bench {}", names_of(cases).substr(0, names_of(cases).find(',')))));
    }
  }

  [[nodiscard]] Value run_case() {
    switch (bit_of(in_.case_name)) {
      case kStep:
        return run_step();
      case kInfer:
        return run_infer();
      case kFusion:
        return run_fusion();
      case kAutobatch:
        return run_autobatch();
      case kChoose:
        return run_choose_case(in_);
      case kPeers:
        return run_peers();
      case kPipeline:
        return bench::run_pipeline(data::images_or_records(in_.data), pipeline_options());
      case kOverlap:
        return run_overlap();
      case kFormats:
        return run_formats();
      case kExperiment:
        return run_experiment();
      case kAllreduce:
        in_.ranks_bench.rounds = in_.rounds;
        return run_allreduce_case(in_.ranks_bench);
      case kLinks:
        in_.ranks_bench.rounds = in_.rounds;
        return run_links_case(in_.ranks_bench);
      case kNodes:
        return run_nodes();
      case kScaling:
        return run_scaling();
      case kPredict:
        return run_predict();
      case kAblation:
        return bench::run_ablation(data::images_or_records(in_.data),
                                   {.input = pipeline_options(), .rounds = in_.rounds});
      default:
        return bench::run_case(in_.case_name, {.warmup = in_.step.warmup,
                                               .repeats = in_.step.steps,
                                               .threads = bench::threads_of(in_.threads, in_.may_oversubscribe)});
    }
  }

  [[nodiscard]] Value run_step() {
    in_.step.threads = bench::threads_of(in_.threads, in_.may_oversubscribe);
    in_.step.device = in_.device;
    if (batch_of(in_) > 0) in_.step.batch = batch_of(in_);
    if (in_.channels > 0) in_.step.channels = in_.channels;
    take_graph();
    return bench::run_step(in_.step);
  }

  [[nodiscard]] Value run_peers() const {
    bench::PeersOptions options{.network = in_.step,
                                .peers = names_in(in_.peers),
                                .scripts = in_.scripts,
                                .python = in_.python,
                                .tensorflow_python = in_.tensorflow_python,
                                .rounds = in_.rounds};
    options.network.threads = bench::threads_of(in_.threads, in_.may_oversubscribe);
    if (batch_of(in_) > 0) options.network.batch = batch_of(in_);
    return bench::run_peers(options);
  }

  [[nodiscard]] Value run_fusion() const {
    bench::FusionOptions options{.network = in_.step, .rounds = in_.rounds};
    if (!in_.models.empty()) options.models = names_in(in_.models);
    options.network.threads = bench::threads_of(in_.threads, in_.may_oversubscribe);
    options.network.device = in_.device;
    if (batch_of(in_) > 0) options.network.batch = batch_of(in_);
    if (in_.channels > 0) options.network.channels = in_.channels;
    return bench::run_fusion(options);
  }

  [[nodiscard]] Value run_autobatch() const {
    bench::AutobatchOptions options{.network = in_.step, .budget_bytes = bench::parse_bytes("--memory", in_.memory)};
    options.network.threads = bench::threads_of(in_.threads, in_.may_oversubscribe);
    options.network.device = in_.device;
    if (in_.channels > 0) options.network.channels = in_.channels;
    return bench::run_autobatch(options);
  }

  [[nodiscard]] Value run_infer() {
    bench::InferOptions options{.network = in_.step, .rounds = in_.rounds};
    options.network.threads = bench::threads_of(in_.threads, in_.may_oversubscribe);
    options.network.device = in_.device;
    if (in_.channels > 0) options.network.channels = in_.channels;
    if (!in_.batch.empty()) options.batches = bench::parse_batches(in_.batch);
    std::deque<graph::Graph> graphs;  // none of them moves
    for (const std::int64_t batch : options.batches) {
      auto graph = graph_of_file(options.network.model, {.batch = batch,
                                                         .channels = options.network.channels,
                                                         .image_px = options.network.image_px,
                                                         .labels = options.network.labels});
      if (graph) options.graphs.push_back(&graphs.emplace_back(std::move(*graph)));
    }
    return bench::run_infer(options);
  }

  [[nodiscard]] Value run_overlap() {
    bench::OverlapOptions options{.input = pipeline_options(), .rounds = in_.rounds};
    in_.step.threads = static_cast<int>(in_.threads);
    if (options.input.device_images_per_s <= 0.0) {
      in_.step.device = in_.device;
      in_.step.batch = options.input.batch;
      in_.step.channels = options.input.channels;
      take_graph();
    }
    options.step = in_.step;
    return bench::run_overlap(data::images_or_records(in_.data), options);
  }

  // Images/s of an emulated device; 0: the engine's.
  double take_device() {
    if (bench::is_emulated_device(in_.device)) return bench::parse_emulated_device(in_.device);
    in_.step.device = in_.device;
    return 0.0;
  }

  void take_step_of_ranks() {
    if (batch_of(in_) > 0) in_.step.batch = batch_of(in_);
    if (in_.channels > 0) in_.step.channels = in_.channels;
    in_.step.threads = static_cast<int>(in_.threads);
    take_graph();
  }

  [[nodiscard]] Value run_scaling() {
    bench::ScalingOptions options{.device_images_per_s = take_device()};
    std::optional<data::Dataset> dataset;
    if (in_.scaling.is_synthetic && !in_.data.empty()) {
      throw ConfigError(error_text("cli.bench", "--synthetic", "no --data beside it", in_.data[0], "one of them"));
    }
    take_step_of_ranks();
    if (!in_.data.empty()) {
      dataset = data::images_or_records(in_.data);
      options.input = pipeline_options();
      options.input->channels = static_cast<int>(in_.step.channels);
      options.dataset = &*dataset;
    }
    options.step = in_.step;
    in_.scaling.may_oversubscribe = in_.may_oversubscribe;
    in_.scaling.reduce = in_.ranks_bench.ways;
    in_.scaling.wire = in_.ranks_bench.wires;
    return run_scaling_case(in_.scaling, in_.ranks, options);
  }

  [[nodiscard]] Value run_nodes() {
    take_step_of_ranks();
    in_.step.device = in_.device;
    in_.step.steps = in_.updates;
    bench::NodesOptions options{.step = in_.step};
    if (in_.ranks_bench.slow_factor > 0.0) options.slow_factor = in_.ranks_bench.slow_factor;
    return run_nodes_case(
        {.ranks = one_number(in_.ranks), .hosts = in_.scaling.hosts, .may_oversubscribe = in_.may_oversubscribe},
        options);
  }

  [[nodiscard]] Value run_predict() {
    bench::PredictOptions options{.device_images_per_s = take_device()};
    take_step_of_ranks();
    in_.scaling.may_oversubscribe = in_.may_oversubscribe;
    options.step = in_.step;
    return run_predict_case(in_.scaling, in_.ranks, options);
  }

  void require_work() const {
    if (in_.work.empty()) {
      throw ConfigError(error_text("cli.bench", "--work", "a folder for record files", "none", "--work DIR"));
    }
    for (const std::string& data : in_.data) refuse_inside_data("--work", in_.work, data);
  }

  [[nodiscard]] Value run_formats() const {
    require_work();
    bench::FormatsOptions options{.input = pipeline_options(),
                                  .stored_px = in_.stored_px,
                                  .work = in_.work,
                                  .cell_s = in_.cell_s,
                                  .rounds = in_.rounds};
    options.input.steps = kMostSteps;
    return bench::run_formats(data::images_or_records(in_.data), options);
  }

  [[nodiscard]] std::vector<std::string> experiment_models() const {
    if (in_.models == kNone) return {};
    return names_in(in_.models.empty() ? kExperimentModels : in_.models);
  }

  [[nodiscard]] Value run_experiment() const {
    require_work();
    bench::ExperimentOptions options{.input = pipeline_options(),
                                     .models = experiment_models(),
                                     .rates = bench::parse_rates(in_.rates == kNone ? "" : in_.rates),
                                     .step = in_.step,
                                     .work = in_.work,
                                     .cell_s = in_.cell_s,
                                     .rounds = in_.rounds};
    options.input.steps = kMostSteps;
    options.step.threads = static_cast<int>(in_.threads);
    return bench::run_experiment(data::images_or_records(in_.data), options);
  }

  // A --model that names a file.
  void take_graph() {
    train::ModelRecipe model;
    set_model(model, in_.step.model);
    if (model.file.empty()) return;
    graph_ = make_model(model, {.batch = in_.step.batch,
                                .channels = in_.step.channels,
                                .image_px = in_.step.image_px,
                                .labels = in_.step.labels});
    in_.step.graph = &*graph_;
  }

  [[nodiscard]] bench::PipelineOptions pipeline_options() const {
    bench::PipelineOptions options{.pipeline = data::parse_pipeline(in_.pipeline_text),
                                   .image_px = in_.step.image_px,
                                   .workers = static_cast<int>(in_.workers),
                                   .warmup = in_.step.warmup,
                                   .steps = in_.step.steps,
                                   .is_cold = in_.is_cold};
    const unsigned bit = bit_of(in_.case_name);
    if ((bit & kWithModel) != 0) options.batch = bench::StepOptions{}.batch;
    options.ranks = bit == kAblation ? bench::AblationOptions{}.input.ranks : 1;
    if ((bit & (kPipeline | kAblation)) != 0 && in_.ranks != "1") {
      options.ranks = static_cast<int>(one_number(in_.ranks));
    }
    if (batch_of(in_) > 0) options.batch = batch_of(in_);
    if (in_.channels > 0) options.channels = in_.channels;
    if (!in_.recipe.empty()) {
      const train::Recipe recipe = train::read_recipe(in_.recipe, {});
      if (in_.step.image_px != bench::StepOptions{}.image_px || in_.channels > 0) {
        throw ConfigError(error_text("cli.bench", "--image and --channels", "none beside --recipe, which has its own",
                                     "one", "a [preprocess] section that says them"));
      }
      options.preprocess = recipe.preprocess;
      options.augment = recipe.augment;
      options.image_px = recipe.preprocess.size_px;
      options.channels = recipe.preprocess.channels;
    }
    for (const std::string& data : in_.data) {
      if (!in_.cache_dir.empty()) refuse_inside_data("--cache-dir", in_.cache_dir, data);
    }
    options.cache_dir = in_.cache_dir;
    options.memory_mb = in_.memory_mb;
    if (!in_.input_cores.empty()) options.cores = runtime::parse_core_list(in_.input_cores);
    if (!in_.storage.empty()) options.storage = data::parse_storage_costs(in_.storage);
    const bool is_engine = (bit & kWithModel) != 0 && !bench::is_emulated_device(in_.device);
    if (in_.device != kEngine && !is_engine) options.device_images_per_s = bench::parse_emulated_device(in_.device);
    return options;
  }

  static constexpr std::string_view kEngine = "cpu";
  /// Where time ends a measurement.
  static constexpr std::int64_t kMostSteps = 100'000;

  BenchArguments in_;
  std::optional<graph::Graph> graph_;
  /// What the options hold unless they are given, in their order.
  std::vector<std::string> usual_;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace roentgen::cli
