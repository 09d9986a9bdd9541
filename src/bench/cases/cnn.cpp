// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `cnn`: takes the flags of tf_cnn_benchmarks and prints its output form.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/case_list.h"
#include "bench/cnn_flags.h"
#include "bench/harness.h"
#include "bench/peak.h"
#include "bench/short_run.h"
#include "core/error.h"
#include "core/log.h"
#include "dist/comm_thread.h"
#include "dist/launched.h"
#include "runtime/cores.h"
#include "runtime/stream.h"
#include "train/ranks.h"

namespace roentgen::bench {
namespace {

/// Images of --data_dir. Throws ConfigError if the folder is missing, and like Host::images.
data::Dataset images_in(const std::string& folder, const Host& host) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw ConfigError(error_text("bench.cnn", "--data_dir", "a folder of images or TFRecord files",
                                 "no such folder: " + folder, "no --data_dir, for random images"));
  }
  return host.images({folder});
}

class CnnCase final : public Case {
 public:
  CnnCase()
      : Case("takes the flags of tf_cnn_benchmarks and prints its output form",
             "roentgen bench cnn --model=resnet50 --batch_size=16 --num_batches=20\n"
             "mpirun -np 2 roentgen bench cnn --variable_update=horovod --model=resnet50 --batch_size=16") {}
  [[nodiscard]] std::vector<Option> options() override { return flags_.options(); }
  [[nodiscard]] bool prints_itself() const override { return true; }

  [[nodiscard]] Value run(const Host& host) override {
    const auto launched = dist::launched_rank();
    const CnnMachine machine{.cuda_devices = std::ssize(runtime::find_cuda_devices().devices),
                             .processes = launched ? launched->size : 1};
    CnnPlan plan = plan_of(flags_, machine);
    if (plan.devices > 1) return run_group(plan, host);
    ScalingOptions options{.step = plan.network, .optimizer = plan.optimizer};
    if (!plan.data_dir.empty()) {
      options.dataset = std::make_shared<const data::Dataset>(images_in(plan.data_dir, host));
      if (plan.epochs > 0) {
        options.step.steps = std::max<std::int64_t>(
            1, iterations_of(plan.epochs, std::ssize(options.dataset->samples), plan.network.batch, machine.processes));
      }
      options.input = input_of(plan, options.step);
    }
    if (!launched || launched->rank == 0) {
      for (const std::string& text : plan.notes) log::info("cnn: " + text);
    }
    if (!launched) return measured(plan, options, nullptr, host);
    const RankRequest rank{
        .may_oversubscribe = true, .reduce = plan.reduce, .threads = [&] { return threads_of(plan); }};
    return host.join_ranks(rank, [&](dist::CommThread* group) { return measured(plan, options, group, host); });
  }

 private:
  [[nodiscard]] static int threads_of(const CnnPlan& plan) {
    return plan.network.threads > 0 ? plan.network.threads : runtime::default_compute_threads();
  }

  [[nodiscard]] static InputOptions input_of(const CnnPlan& plan, const NetworkOptions& step) {
    InputOptions input{.batch = step.batch,
                       .image_px = step.image_px,
                       .channels = step.channels,
                       .workers = plan.workers,
                       .warmup = step.warmup,
                       .steps = step.steps};
    if (plan.has_distortions) input.augment = distortions();
    return input;
  }

  /// Starts a process for each device, and prints the steps when the processes have ended.
  [[nodiscard]] static Value run_group(const CnnPlan& plan, const Host& host) {
    const RankRequest group{.ranks = plan.devices, .may_oversubscribe = true, .reduce = plan.reduce};
    // --horovod_device has no effect on devices of one process, so that the ranks must not see it.
    Value result =
        host.start_ranks(group, {"--num_gpus", "1", "--variable_update", "horovod", "--horovod_device", "none"});
    host.print(cnn_lines(result, plan.display_every));
    return result;
  }

  /// Measures as a rank of `group`, or alone if it is null. Prints every step as soon as it is done.
  [[nodiscard]] static Value measured(const CnnPlan& plan, ScalingOptions options, dist::CommThread* group,
                                      const Host& host) {
    const train::Ranks ranks(group);
    options.step.threads = threads_of(plan);
    CnnOutput output(static_cast<double>(options.step.batch * ranks.size()), plan.display_every);
    Value losses = Value::array();
    options.on_step = [&](const train::StepRecord& record) {
      if (record.step <= options.step.warmup) return;
      losses.push_back(record.loss);
      if (const std::string line = output.add(record.seconds, record.loss); !line.empty()) host.print(line);
    };
    const Value point = run_shown_point("cnn", options, group);
    if (!ranks.is_first()) return {};
    const double total = point.at("images_per_s").as_double();
    host.print(CnnOutput::end(total));
    Value result = settings_of("cnn", options.step,
                               {"model", "image_px", "channels", "labels", "device", "fuse", "algorithms", "warmup"});
    result.set("input", options.input ? "files" : "random images");
    result.set("optimizer", plan.optimizer.name);
    // Texts, because records compare texts but no fractions.
    result.set("learning_rate", fmt::to_string(plan.optimizer.lr));
    result.set("weight_decay", fmt::to_string(plan.optimizer.weight_decay));
    result.set("reduce", plan.reduce);
    if (options.input) {
      result.set("workers", plan.workers);
      result.set("distortions", plan.has_distortions);
      result.set("cold", false);
    }
    const Value row = short_row(point);
    for (const auto& [key, value] : row.as_table()) result.set(key, value);
    result.set("total_images_per_s", total);
    result.set("losses", std::move(losses));
    if (group == nullptr) add_share_of_peak(result, measure_peak(options.step));
    add_environment(result);
    return result;
  }

  CnnFlags flags_;
};

}  // namespace

std::unique_ptr<Case> make_cnn_case() { return std::make_unique<CnnCase>(); }

}  // namespace roentgen::bench
