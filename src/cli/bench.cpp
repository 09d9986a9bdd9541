// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen bench: named benchmark cases with a checked answer. --json FILE has all of the result, for machines.
#include <fmt/format.h>

#include <algorithm>

#include "bench/harness.h"
#include "bench/pipeline.h"
#include "bench/step.h"
#include "cli/command_list.h"
#include "cli/image_list.h"
#include "cli/model_option.h"
#include "cli/report_text.h"
#include "core/error.h"
#include "core/log.h"

namespace roentgen::cli {
namespace {

class BenchCommand final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "bench"; }
  [[nodiscard]] std::string_view summary() const override {
    return "Run a benchmark case: step, pipeline, data.decode_png, ...";
  }
  [[nodiscard]] std::string_view examples() const override {
    return "roentgen bench step --model resnet50 --batch 16 --image 224 --warmup 3 --steps 10 --threads 2 --json "
           "step.json\n"
           "roentgen bench step --model densenet121 --profile\n"
           "roentgen bench pipeline --data images/ --image 224 --batch 64 --workers 2\n"
           "roentgen bench pipeline --data images/ --pipeline naive --device emulated:1200 --cold\n"
           "roentgen bench --list";
  }
  [[nodiscard]] std::vector<Option> options() override {
    return {
        {.name = "CASE", .target = &case_, .doc = "name of the case"},
        {.name = "--list", .target = &is_list_, .doc = "list the cases"},
        {.name = "--data", .target = &data_, .doc = "pipeline: images and folders of images, labels not needed"},
        {.name = "--pipeline", .target = &pipeline_text_, .doc = "pipeline: its name, or stages with | between them"},
        {.name = "--workers",
         .target = &workers_,
         .doc = "pipeline: decoding threads; 0 = all cores",
         .least = 0,
         .most = 1024},
        {.name = "--cold", .target = &is_cold_, .doc = "pipeline: drop files from the page cache before they are read"},
        {.name = "--emulate-storage",
         .target = &storage_,
         .doc = "pipeline: as on slow storage: open=2ms,read=1ms,opens_per_s=1000"},
        {.name = "--warmup", .target = &step_.warmup, .doc = "runs before those measured", .least = 0, .most = 1e6},
        {.name = "--steps", .target = &step_.steps, .doc = "runs measured", .least = 1, .most = 1e6},
        {.name = "--threads", .target = &threads_, .doc = "compute threads; 0 = all cores", .least = 0, .most = 1e6},
        {.name = "--oversubscribe", .target = &may_oversubscribe_, .doc = "also more threads than the machine has"},
        {.name = "--model", .target = &step_.model, .doc = "step: name of a model, or file with a graph text"},
        {.name = "--batch", .target = &batch_, .doc = "images a batch; 0 = 16, pipeline 64", .least = 0, .most = 65536},
        {.name = "--image", .target = &step_.image_px, .doc = "side of the image, px", .least = 1, .most = 65536},
        {.name = "--channels", .target = &channels_, .doc = "1 or 3; 0 = 3, pipeline 1", .least = 0, .most = 3},
        {.name = "--labels", .target = &step_.labels, .doc = "step: outputs", .least = 1, .most = 1e6},
        {.name = "--device", .target = &device_, .doc = "step: engine; pipeline: emulated:RATE, images a second"},
        {.name = "--fuse", .target = &step_.fuse, .doc = "step: graph passes: on, off or names"},
        {.name = "--algorithms", .target = &step_.algorithms, .doc = "step: convolutions: direct or auto"},
        {.name = "--profile", .target = &step_.has_profile, .doc = "step: time of every kind of kernel"}};
  }

  [[nodiscard]] CommandResult run() override {
    if (is_list_) {
      for (const std::string_view name : bench::case_names()) fmt::print("{}\n", name);
      return {};
    }
    const int threads = bench::threads_of(threads_, may_oversubscribe_);
    step_.threads = threads;
    refuse_options_of_others();
    Value json = case_ == "step" ? run_step()
                 : case_ == "pipeline"
                     ? run_pipeline()
                     : bench::run_case(case_, {.warmup = step_.warmup, .repeats = step_.steps, .threads = threads});
    fmt::print("{}", report_text(json, {"warnings", "layers", "memory_bytes", "kernel", "variables", "libraries"}));
    if (const Value* warnings = json.find("warnings")) {
      for (const Value& warning : warnings->as_array()) log::warning(warning.as_string());
    }
    return {.json = std::move(json)};
  }

 private:
  // An option that changes nothing would leave its user with a figure of something else.
  void refuse_options_of_others() const {
    const std::string_view owner = case_ == "pipeline" ? "step" : "pipeline";
    const auto refuse = [&](std::string_view option, bool is_given) {
      if (is_given) {
        throw ConfigError(
            error_text("cli.bench", option, fmt::format("the case {}", owner), case_, fmt::format("bench {}", owner)));
      }
    };
    if (case_ == "pipeline") {
      const bench::StepOptions usual;
      refuse("--model", step_.model != usual.model);
      refuse("--labels", step_.labels != usual.labels);
      refuse("--fuse", step_.fuse != usual.fuse);
      refuse("--algorithms", step_.algorithms != usual.algorithms);
      refuse("--profile", step_.has_profile);
      refuse("--threads", threads_ != 0);
      return;
    }
    refuse("--data", !data_.empty());
    refuse("--pipeline", pipeline_text_ != "default");
    refuse("--workers", workers_ != 0);
    refuse("--cold", is_cold_);
    refuse("--emulate-storage", !storage_.empty());
  }

  [[nodiscard]] Value run_step() const {
    bench::StepOptions options = step_;
    options.device = device_;
    if (batch_ > 0) options.batch = batch_;
    if (channels_ > 0) options.channels = channels_;
    train::ModelRecipe model;
    set_model(model, options.model);
    if (model.file.empty()) return bench::run_step(options);
    const graph::Graph graph = make_model(
        model,
        {.batch = options.batch, .channels = options.channels, .image_px = options.image_px, .labels = options.labels});
    options.graph = &graph;
    return bench::run_step(options);
  }

  [[nodiscard]] Value run_pipeline() const {
    if (data_.empty()) {
      throw ConfigError(error_text("cli.bench", "--data", "images or folders of images", "none", "--data DIR"));
    }
    bench::PipelineOptions options{.pipeline = data::parse_pipeline(pipeline_text_),
                                   .image_px = step_.image_px,
                                   .workers = static_cast<int>(workers_),
                                   .warmup = step_.warmup,
                                   .steps = step_.steps,
                                   .is_cold = is_cold_};
    if (batch_ > 0) options.batch = batch_;
    if (channels_ > 0) options.channels = channels_;
    if (!storage_.empty()) options.storage = data::parse_storage_costs(storage_);
    if (device_ != kEngine) options.device_images_per_s = bench::parse_emulated_device(device_);
    return bench::run_pipeline(dataset(), options);
  }

  // Images, or the record files of folders.
  [[nodiscard]] data::Dataset dataset() const {
    if (!std::ranges::all_of(data_, [](const std::string& folder) { return data::has_records(folder); })) {
      return list_images(data_).dataset;
    }
    data::Dataset all;
    for (const std::string& folder : data_) {
      data::SourceOptions records{.root = folder, .source = "tfrecord"};
      records.split.mode = data::SplitMode::Whole;
      data::Dataset one = data::load_dataset(records);
      if (data_.size() == 1) return one;
      for (data::Sample& sample : one.samples) {
        sample.labels.clear();
        all.samples.push_back(std::move(sample));
      }
    }
    return all;
  }

  static constexpr std::string_view kEngine = "cpu";

  std::string case_ = "step";
  bool is_list_ = false;
  std::int64_t threads_ = 0;
  bool may_oversubscribe_ = false;
  bench::StepOptions step_;
  std::int64_t batch_ = 0;
  std::int64_t channels_ = 0;
  std::string device_{kEngine};
  std::vector<std::string> data_;
  std::string pipeline_text_ = "default";
  std::int64_t workers_ = 0;
  bool is_cold_ = false;
  std::string storage_;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace roentgen::cli
