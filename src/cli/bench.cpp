// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen bench: named benchmark cases with a checked answer. --json FILE has all of the result, for machines.
#include <fmt/format.h>

#include "bench/harness.h"
#include "bench/step.h"
#include "cli/command_list.h"
#include "cli/model_option.h"
#include "cli/report_text.h"
#include "core/log.h"

namespace roentgen::cli {
namespace {

class BenchCommand final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "bench"; }
  [[nodiscard]] std::string_view summary() const override { return "Run a benchmark case: step, data.decode_png, ..."; }
  [[nodiscard]] std::string_view examples() const override {
    return "roentgen bench step --model resnet50 --batch 16 --image 224 --warmup 3 --steps 10 --threads 2 --json "
           "step.json\n"
           "roentgen bench step --model densenet121 --profile\n"
           "roentgen bench --list";
  }
  [[nodiscard]] std::vector<Option> options() override {
    return {
        {.name = "CASE", .target = &case_, .doc = "name of the case"},
        {.name = "--list", .target = &is_list_, .doc = "list the cases"},
        {.name = "--warmup", .target = &step_.warmup, .doc = "runs before those measured", .least = 0, .most = 1e6},
        {.name = "--steps", .target = &step_.steps, .doc = "runs measured", .least = 1, .most = 1e6},
        {.name = "--threads", .target = &threads_, .doc = "compute threads; 0 = all cores", .least = 0, .most = 1e6},
        {.name = "--oversubscribe", .target = &may_oversubscribe_, .doc = "also more threads than the machine has"},
        {.name = "--model", .target = &step_.model, .doc = "step: name of a model, or file with a graph text"},
        {.name = "--batch", .target = &step_.batch, .doc = "step: images a batch", .least = 1, .most = 65536},
        {.name = "--image", .target = &step_.image_px, .doc = "step: side of the image, px", .least = 1, .most = 65536},
        {.name = "--channels", .target = &step_.channels, .doc = "step: 1 or 3", .least = 1, .most = 3},
        {.name = "--labels", .target = &step_.labels, .doc = "step: outputs", .least = 1, .most = 1e6},
        {.name = "--device", .target = &step_.device, .doc = "step: engine"},
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
    Value json = case_ == "step"
                     ? run_step()
                     : bench::run_case(case_, {.warmup = step_.warmup, .repeats = step_.steps, .threads = threads});
    fmt::print("{}", report_text(json, {"warnings", "layers", "memory_bytes", "kernel", "variables", "libraries"}));
    if (const Value* warnings = json.find("warnings")) {
      for (const Value& warning : warnings->as_array()) log::warning(warning.as_string());
    }
    return {.json = std::move(json)};
  }

 private:
  [[nodiscard]] Value run_step() const {
    train::ModelRecipe model;
    set_model(model, step_.model);
    if (model.file.empty()) return bench::run_step(step_);
    const graph::Graph graph = make_model(
        model, {.batch = step_.batch, .channels = step_.channels, .image_px = step_.image_px, .labels = step_.labels});
    bench::StepOptions options = step_;
    options.graph = &graph;
    return bench::run_step(options);
  }

  std::string case_ = "step";
  bool is_list_ = false;
  std::int64_t threads_ = 0;
  bool may_oversubscribe_ = false;
  bench::StepOptions step_;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace roentgen::cli
