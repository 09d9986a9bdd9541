// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `short`: the short test with several numbers of devices, on random images or on files.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/case_list.h"
#include "bench/harness.h"
#include "bench/options.h"
#include "bench/peak.h"
#include "bench/short_run.h"
#include "core/error.h"
#include "core/log.h"
#include "dist/launched.h"
#include "runtime/core_list.h"
#include "runtime/cores.h"

namespace roentgen::bench {
namespace {

class ShortCase final : public Case {
 public:
  ShortCase()
      : Case("short test: 10 steps of warm-up and 100 averaged steps of training, with 1, 4 and 8 devices",
             "roentgen bench short --model resnet50 --batch 16\n"
             "roentgen bench short --model resnet18 --image 64 --ranks 1,2 --threads 1\n"
             "roentgen bench short --data images/ --epochs 1") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({sizes_.options({"--batch", "--image", "--channels", "--warmup", "--steps"}),
                   network_.training_options(),
                   network_.options({"--allow-shared-gpu"}),
                   input_.options({"--data", "--pipeline", "--workers", "--cold", "--emulate-storage"}),
                   ranks_.options({"--ranks", "--hosts", "--bucket-mb", "--reduce", "--wire"}),
                   {{.name = "--epochs",
                     .target = &epochs_,
                     .doc = "with --data: measure whole epochs instead of --steps",
                     .range = {0, kMany}}}});
  }

  [[nodiscard]] Value run(const Host& host) override {
    ScalingOptions options{.step = network_.sized(sizes_), .bucket_mb = ranks_.bucket_mb};
    const std::string device = options.step.device;
    options.device_images_per_s = take_emulated_device(options.step);
    options.step.graph = host.graph_of_file(options.step);
    take_input(options, input_, sizes_, host);
    if (epochs_ > 0 && !options.input) {
      throw ConfigError(error_text("bench.short", "--epochs", "also --data", "no --data", "--data DIR, or --steps"));
    }
    const Value settings = settings_with(options, device);
    Value result;
    if (const auto launched = dist::launched_rank()) {
      const Value row = run_as_rank(options, host, launched->size);
      if (row.is_null()) return {};
      result = run_short_points({launched->size}, settings, [&](std::int64_t) { return with_formula(row, options); });
    } else {
      result = run_all(options, host, devices_of(device), settings);
    }
    if (!dist::launched_rank() && options.device_images_per_s <= 0.0) {
      add_share_of_peak(result, measure_peak(options.step));
    }
    add_environment(result);
    return result;
  }

 private:
  [[nodiscard]] RankRequest request() const { return ranks_.request(network_.may_oversubscribe); }

  [[nodiscard]] static std::optional<std::int64_t> images_of(const ScalingOptions& options) {
    return options.dataset == nullptr ? std::nullopt : std::optional(std::ssize(options.dataset->samples));
  }

  /// Sets the number of measured steps from --epochs.
  void set_steps(ScalingOptions& options, std::int64_t ranks) const {
    if (epochs_ == 0) return;
    options.step.steps =
        std::max<std::int64_t>(1, iterations_of(epochs_, *images_of(options), options.step.batch, ranks));
    options.input->steps = options.step.steps;
  }

  [[nodiscard]] Value settings_with(const ScalingOptions& options, const std::string& device) const {
    NetworkOptions named = options.step;
    named.device = device;
    Value settings = settings_of("short", named,
                                 {"model", "batch", "image_px", "channels", "labels", "threads", "device", "fuse",
                                  "algorithms", "dtype", "recompute", "warmup", "n"});
    settings.set("input", options.input ? "files" : "random images");
    if (const auto images = images_of(options)) {
      settings.set("images", *images);
      settings.set("pipeline", input_.pipeline);
      settings.set("workers", input_.workers);
      settings.set("cold", options.input->is_cold);
      if (!input_.storage.empty()) settings.set("emulate_storage", input_.storage);
    }
    settings.set("reduce", request().reduce);
    settings.set("wire", request().wire);
    settings.set("bucket_mb", ranks_.bucket_mb);
    return settings;
  }

  /// Returns a row with the formula of its number of devices.
  [[nodiscard]] Value with_formula(Value row, const ScalingOptions& options) const {
    row.set("formula", iterations_text(std::max<std::int64_t>(1, epochs_), images_of(options), options.step.batch,
                                       row.at("ranks").as_integer()));
    return row;
  }

  /// Measures all numbers of devices: one device in this process, others each in a new group of processes.
  [[nodiscard]] Value run_all(ScalingOptions& options, const Host& host, std::int64_t devices,
                              const Value& settings) const {
    if (!ranks_.hosts.empty() && ranks_.ranks.empty()) {
      throw ConfigError(error_text("bench.short", "--hosts", "also --ranks", "no --ranks", "--ranks 1,2,4"));
    }
    const std::vector<std::int64_t> counts = ranks_.ranks.empty() ? usual_counts(devices) : ranks_.counts();
    const int cores = runtime::physical_cores(runtime::usable_cores());
    const std::int64_t shared = std::max<std::int64_t>(1, cores / std::ranges::max(counts));
    options.step.threads =
        threads_of(options.step.threads > 0 ? options.step.threads : shared, network_.may_oversubscribe);
    return run_short_points(counts, settings, [&](std::int64_t count) {
      if (count == 1 && ranks_.hosts.empty()) {
        set_steps(options, 1);
        return with_formula(run_short(options, nullptr), options);
      }
      RankRequest group = request();
      group.ranks = count;
      group.hosts = ranks_.hosts;
      const Value row = short_row_in(host.start_ranks(group, {"--threads", std::to_string(options.step.threads)}));
      return with_formula(row, options);
    });
  }

  /// Runs this process as one rank of a number of devices. Returns the row, or null on ranks other than 0.
  [[nodiscard]] Value run_as_rank(ScalingOptions& options, const Host& host, std::int64_t ranks) const {
    log::set_level(log::Level::Warning);  // without messages that repeat for every number of devices
    set_steps(options, ranks);
    RankRequest rank = request();
    rank.threads = [&] { return options.device_images_per_s > 0.0 ? 0 : threads_in(options); };
    return host.join_ranks(rank, [&](dist::CommThread* group) {
      options.step.threads = threads_in(options);
      return run_short(options, group);
    });
  }

  /// Number of compute threads of this rank, which is bound to its cores.
  [[nodiscard]] static int threads_in(const ScalingOptions& options) {
    return options.step.threads > 0 ? options.step.threads : runtime::default_compute_threads();
  }

  SizeArguments sizes_{.warmup = kShortWarmup, .steps = kShortSteps};
  NetworkArguments network_;
  InputArguments input_;
  RankArguments ranks_{.ranks = ""};
  std::int64_t epochs_ = 0;
};

}  // namespace

std::unique_ptr<Case> make_short_case() { return std::make_unique<ShortCase>(); }

}  // namespace roentgen::bench
