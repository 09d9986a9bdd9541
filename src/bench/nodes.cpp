// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/nodes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>

#include "bench/harness.h"
#include "bench/rounds.h"
#include "bench/same_batches.h"
#include "bench/step_model.h"
#include "core/error.h"
#include "dist/comm_thread.h"
#include "engine/engine.h"
#include "runtime/core_list.h"
#include "train/one_plan.h"
#include "train/ranks.h"
#include "train/stepper.h"

namespace roentgen::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// All ranks at once, as the steps are: ranks of one host share its memory's bandwidth.
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
    if (to[0] != static_cast<char>(i)) throw DataError(error_text("bench.nodes", "a copy", "what was copied", "else"));
    if (i == 0 || s < best_s) best_s = s;
  }
  return 2.0 * static_cast<double>(kBytes) / best_s * 1e-9;
}

NodeFigures measure(const NodesOptions& options, const train::Ranks& ranks) {
  const auto engine = engine::make_engine(options.step.device);
  // One plan for all: their weights are to be the same to the bit.
  const engine::ChoiceInputs choice = train::shared_choice_inputs(ranks, *engine, options.step.threads);
  const auto executable =
      compile_step(options.step, *engine, {.threads = options.step.threads, .slots = 1, .choice = &choice});
  train::require_one_plan(ranks, *executable);
  train::Stepper stepper(*executable, {.optimizer = "sgd",
                                       .optimizer_options = {.momentum = 0.9, .threads = options.step.threads},
                                       .weight_decay = 1e-4});
  NodeFigures figures{.copy_gb_per_s = copy_gb_per_s(ranks)};
  SameBatches batches(options.step.batch);
  static_cast<void>(ranks.gather("", {.name = "first step"}));  // all at once
  constexpr double kRate = 1e-3;
  std::vector<double> step_s;
  for (std::int64_t step = 0; step < options.step.steps; ++step) {
    const train::StepRecord record = stepper.update(batches, step, kRate);
    step_s.push_back(record.seconds);
    figures.loss = record.loss;
  }
  figures.step_s = summarise(step_s).median;
  figures.weights = train::hash_of(executable->parameters());
  return figures;
}

std::vector<NodeFigures> gather(const train::Ranks& ranks, const NodeFigures& own) {
  static_assert(std::is_trivially_copyable_v<NodeFigures>);
  std::vector<NodeFigures> all;
  for (const std::string& bytes :
       ranks.gather({reinterpret_cast<const char*>(&own), sizeof own}, {.name = "figures of all ranks"})) {
    std::memcpy(&all.emplace_back(), bytes.data(), sizeof own);
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

bool is_oversubscribed(const dist::CommThread& group, int threads) {
  return group.local_size() * threads > static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

std::string slow_text(const std::string& name, const NodeFigures& node, std::span<const NodeFigures> all) {
  return error_text("bench.nodes", name,
                    fmt::format("steps of about {:.3g} ms and copies of {:.3g} GB/s, the medians",
                                median_step_s(all) * 1e3, median_copy(all)),
                    fmt::format("{:.3g} ms and {:.3g} GB/s", node.step_s * 1e3, node.copy_gb_per_s),
                    "what else runs there, its cooling and its memory");
}

std::string odd_text(const std::string& name, const NodeFigures& node, bool is_nobody_right) {
  return error_text("bench.nodes", name, is_nobody_right ? "weights that most ranks have" : "the weights of the others",
                    fmt::format("{:016x}", node.weights),
                    "again, and without this host if it stays: it computes something else");
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
    throw ConfigError(error_text("bench.nodes", "slow factor", "above 1", fmt::format("{}", options.slow_factor)));
  }
  const train::Ranks ranks(&group);
  runtime::CoreList cores = runtime::usable_cores();
  cores.resize(std::min<std::size_t>(cores.size(), static_cast<std::size_t>(options.step.threads)));
  const runtime::BoundToCores bound(cores);
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
  result.set("oversubscribed", is_oversubscribed(group, options.step.threads));
  add_nodes(result, group, gather(ranks, measure(options, ranks)), options);
  add_environment(result);
  return result;
}

}  // namespace roentgen::bench
