// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "bench/case_list.h"
#include "bench/harness.h"
#include "bench/options.h"
#include "bench/ranks.h"
#include "bench/rounds.h"
#include "bench/same_batches.h"
#include "bench/step_progress.h"
#include "core/error.h"
#include "core/log.h"
#include "dist/comm_thread.h"
#include "dist/launched.h"
#include "engine/engine.h"
#include "runtime/core_list.h"
#include "runtime/cores.h"
#include "train/one_plan.h"
#include "train/own_device.h"
#include "train/ranks.h"
#include "train/stepper.h"

namespace roentgen::bench {
namespace {

// Measures the copy throughput of all ranks at the same time, because ranks on one host share its memory bandwidth.
double copy_gb_per_s(const train::Ranks& ranks) {
  constexpr std::size_t kBytes = std::size_t{64} << 20U;
  constexpr int kTimes = 8;
  std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes, 2);
  static_cast<void>(ranks.gather("", {.name = "copies"}));
  double best_s = 0.0;
  for (int i = 0; i < kTimes; ++i) {
    from[0] = static_cast<char>(i);
    const auto start = Clock::now();
    std::memcpy(to.data(), from.data(), kBytes);
    const double s = seconds_since(start);
    if (to[0] != static_cast<char>(i))
      throw DataError(error_text("bench.nodes", "memory copy", "the bytes that were copied", "different bytes"));
    if (i == 0 || s < best_s) best_s = s;
  }
  return 2.0 * static_cast<double>(kBytes) / best_s * 1e-9;
}

NodeFigures measure(const NodesOptions& options, const train::Ranks& ranks) {
  const auto engine = engine::make_engine(options.step.device);
  if (!options.step.may_share_device) train::require_own_device(ranks, *engine);
  // All ranks use one plan, because their weights must be equal bit for bit.
  const engine::ChoiceInputs choice = train::shared_choice_inputs(ranks, *engine, options.step.threads);
  const auto executable =
      compile_step(options.step, *engine, {.threads = options.step.threads, .slots = 1, .choice = &choice});
  train::require_one_plan(ranks, *executable);
  train::Stepper stepper(*executable, {.optimizer = "sgd", .weight_decay = 1e-4});
  NodeFigures figures{.copy_gb_per_s = copy_gb_per_s(ranks)};
  SameBatches batches(options.step.batch);
  static_cast<void>(ranks.gather("", {.name = "first step"}));  // makes all ranks start together
  constexpr double kRate = 1e-3;
  std::vector<double> step_s;
  StepProgress progress(fmt::format("nodes, {}", train::ranks_text(ranks.size())), options.step.steps);
  for (std::int64_t step = 0; step < options.step.steps; ++step) {
    const train::StepRecord record = stepper.update(batches, step, kRate);
    step_s.push_back(record.seconds);
    figures.loss = record.loss;
    if (ranks.is_first()) progress.update(record);
  }
  progress.end();
  figures.step_s = summarise(step_s).median;
  figures.weights = train::hash_of(executable->parameters());
  return figures;
}

std::vector<NodeFigures> gather(const train::Ranks& ranks, const NodeFigures& own) {
  std::vector<NodeFigures> all;
  for (const auto& theirs : ranks.gather_values<NodeFigures>({&own, 1}, {.name = "figures of all ranks"})) {
    all.push_back(theirs.front());
  }
  return all;
}

double median_step_s(std::span<const NodeFigures> ranks) {
  return median_of(ranks, [](const NodeFigures& rank) { return rank.step_s; });
}

double median_copy(std::span<const NodeFigures> ranks) {
  return median_of(ranks, [](const NodeFigures& rank) { return rank.copy_gb_per_s; });
}

bool has(const std::vector<int>& ranks, int rank) { return std::ranges::find(ranks, rank) != ranks.end(); }

std::string slow_text(const std::string& name, const NodeFigures& node, std::span<const NodeFigures> all) {
  return error_text("bench.nodes", name,
                    fmt::format("steps of about {:.3g} ms and copies of {:.3g} GB/s (the medians of all ranks)",
                                median_step_s(all) * 1e3, median_copy(all)),
                    fmt::format("{:.3g} ms and {:.3g} GB/s", node.step_s * 1e3, node.copy_gb_per_s),
                    "checking other programs, cooling and memory of this host");
}

std::string odd_text(const std::string& name, const NodeFigures& node, bool is_nobody_right) {
  return error_text(
      "bench.nodes", name, is_nobody_right ? "equal weights on most ranks" : "the same weights as on most ranks",
      fmt::format("{:016x}", node.weights), "the case again, and leaving out this host if its weights differ again");
}

void add_nodes(Value& result, const dist::CommThread& group, std::span<const NodeFigures> all,
               const NodesOptions& options) {
  const std::vector<int> slow = slow_nodes(all, options.slow_factor);
  const std::vector<int> odd = odd_nodes(all);
  const double median_s = median_step_s(all);
  Value warnings = Value::array();
  Value rows = Value::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int rank = static_cast<int>(i);
    const std::string name = fmt::format("rank {} ({})", rank, group.hosts()[i]);
    rows.push_back(Value::Table{{"rank", rank},
                                {"host", group.hosts()[i]},
                                {"images_per_s", static_cast<double>(options.step.batch) / all[i].step_s},
                                {"step_ms", all[i].step_s * 1e3},
                                {"of_median", all[i].step_s / median_s},
                                {"copy_gb_per_s", all[i].copy_gb_per_s},
                                {"loss", all[i].loss},
                                {"weights", fmt::format("{:016x}", all[i].weights)},
                                {"slow", has(slow, rank)},
                                {"odd", has(odd, rank)}});
    if (has(odd, rank)) warnings.push_back(odd_text(name, all[i], odd.size() == all.size()));
    if (has(slow, rank)) warnings.push_back(slow_text(name, all[i], all));
  }
  result.set("nodes", std::move(rows));
  result.set("slow", slow.size());
  result.set("odd", odd.size());
  if (!warnings.as_array().empty()) result.set("warnings", std::move(warnings));
}

}  // namespace

std::vector<int> slow_nodes(std::span<const NodeFigures> ranks, double slow_factor) {
  const double step_s = median_step_s(ranks);
  const double copy = median_copy(ranks);
  std::vector<int> slow;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].step_s > step_s * slow_factor || ranks[i].copy_gb_per_s < copy / slow_factor) {
      slow.push_back(static_cast<int>(i));
    }
  }
  return slow;
}

std::vector<int> odd_nodes(std::span<const NodeFigures> ranks) {
  std::vector<std::uint64_t> hashes;
  for (const NodeFigures& rank : ranks) hashes.push_back(rank.weights);
  return train::odd_ranks(hashes);
}

Value run_nodes(const NodesOptions& options, dist::CommThread& group) {
  require_at_least("steps", options.step.steps, 1);
  require_at_least("threads", options.step.threads, 1);
  if (!(options.slow_factor > 1.0)) {
    throw ConfigError(
        error_text("bench.nodes", "slow factor", "a number above 1", fmt::format("{}", options.slow_factor)));
  }
  const train::Ranks ranks(&group);
  const runtime::BoundToCores bound(first_cores(options.step.threads));
  Value result = Value::table();
  result.set("case", "nodes");
  result.set("kind", "measured");
  result.set("model", options.step.model);
  result.set("batch", options.step.batch);
  result.set("image_px", options.step.image_px);
  result.set("threads", options.step.threads);
  result.set("steps", options.step.steps);
  result.set("slow_factor", options.slow_factor);
  result.set("ranks", group.size());
  result.set("oversubscribed", are_too_many(group.local_size() * options.step.threads));
  add_nodes(result, group, gather(ranks, measure(options, ranks)), options);
  add_environment(result);
  return result;
}

namespace {

class NodesCase final : public Case {
 public:
  NodesCase()
      : Case("the same training in every process, to find hosts that are slow or compute wrong results",
             "roentgen bench nodes --ranks 4 --hosts a:1,b:1,c:1,d:1 --model resnet18 --batch 8 --image 64") {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({sizes_.options({"--batch", "--image", "--channels"}),
                   network_.training_options(),
                   network_.options({"--allow-shared-gpu"}),
                   ranks_.options({"--ranks", "--hosts"}),
                   {slow_option(slow_factor_),
                    {.name = "--updates",
                     .target = &updates_,
                     .doc = "number of weight updates in every process",
                     .range = {1, kMany}}}});
  }
  [[nodiscard]] Value run(const Host& host) override {
    NodesOptions options{.step = network_.sized(sizes_)};
    options.step.graph = host.graph_of_file(options.step);
    options.step.steps = updates_;
    if (slow_factor_ > 0.0) options.slow_factor = slow_factor_;
    RankRequest request{.may_oversubscribe = network_.may_oversubscribe};
    if (dist::launched_rank()) return run_as_rank(std::move(options), std::move(request), host);
    request.ranks = ranks_.count();
    request.hosts = ranks_.hosts;
    if (request.ranks > 1) return host.start_ranks(request, {});
    throw ConfigError(error_text("bench.nodes", "ranks", "at least 2 processes", "1",
                                 "--ranks 4 --hosts a:1,b:1,c:1,d:1, or mpirun"));
  }
  [[nodiscard]] bool has_failed(const Value& result) const override { return result.at("odd").as_integer() > 0; }

 private:
  [[nodiscard]] static Value run_as_rank(NodesOptions options, RankRequest request, const Host& host) {
    log::set_level(log::Level::Warning);
    if (options.step.threads > 0) request.threads = [threads = options.step.threads] { return threads; };
    return host.join_ranks(request, [&](dist::CommThread* group) {
      if (group == nullptr) {
        throw ConfigError(
            error_text("bench.nodes", "ranks", "at least 2 processes", "1", "mpirun -np 2 roentgen bench nodes"));
      }
      // Each rank is already bound to its cores, so that the default number of threads counts only its cores.
      if (options.step.threads == 0) options.step.threads = runtime::default_compute_threads();
      return run_nodes(options, *group);
    });
  }

  SizeArguments sizes_;
  NetworkArguments network_;
  RankArguments ranks_;
  double slow_factor_ = 0.0;
  std::int64_t updates_ = 100;
};

}  // namespace

std::unique_ptr<Case> make_nodes_case() { return std::make_unique<NodesCase>(); }

}  // namespace roentgen::bench
