// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bench/case_list.h"
#include "bench/harness.h"
#include "bench/options.h"
#include "core/comma_list.h"
#include "core/error.h"
#include "core/log.h"
#include "data/source/dataset.h"
#include "dist/launched.h"
#include "runtime/core_list.h"
#include "runtime/cores.h"

namespace roentgen::bench {
namespace {

// Options with equal texts share a line of the help.
constexpr const char* kFlagsDoc = "divide --batch among processes; use random images instead of --data";

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
                     .doc = "number of rounds; each round repeats all measurements",
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
    take_input(options, input_, sizes_, host);
    if (dist::launched_rank()) return run_as_rank(options, host);
    Value result = run_points(options, host);
    const RankRequest asked = request();
    result.set("reduce", asked.reduce);
    result.set("wire", asked.wire);
    result.set("bucket_mb", ranks_.bucket_mb);
    return result;
  }

 private:
  [[nodiscard]] RankRequest request() const { return ranks_.request(network_.may_oversubscribe); }

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
                                     fmt::format("at most {} ranks per host, one core each", plan.cores),
                                     fmt::to_string(each), "fewer ranks, or --oversubscribe"));
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

void take_input(ScalingOptions& options, const InputArguments& input, const SizeArguments& sizes, const Host& host) {
  if (input.data.empty()) return;
  options.dataset = std::make_shared<const data::Dataset>(input.dataset(host));
  options.input = input.checked(sizes, NetworkOptions{}.batch);
  options.input->channels = options.step.channels;
}

std::unique_ptr<Case> make_scaling_case() { return std::make_unique<ScalingCase>(); }

}  // namespace roentgen::bench
