// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/rank_plans.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "dist/comm_thread.h"
#include "engine/engine.h"
#include "train/ranks.h"

namespace roentgen::train {
namespace {

constexpr dist::Phase kPhase{.name = "plan"};

// Texts travel as lines; none has a line feed.
std::string lines_of(const std::vector<std::string>& lines) { return fmt::format("{}", fmt::join(lines, "\n")); }

std::vector<std::string> parse_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const KernelChoices& choices) {
  std::vector<std::string> lines;
  for (const auto& [key, choice] : choices) lines.insert(lines.end(), {key, choice});
  return lines_of(lines);
}

KernelChoices parse_choices(const std::string& text) {
  KernelChoices choices;
  const std::vector<std::string> lines = parse_lines(text);
  for (std::size_t i = 0; i + 1 < lines.size(); i += 2) choices[lines[i]] = lines[i + 1];
  return choices;
}

// Who chooses for whom, and when.
struct Roles {
  /// Of each rank.
  std::vector<std::string> kinds;
  /// The lowest rank of its kind.
  std::vector<std::size_t> first;
  /// When it chooses: 0, 1, ... among the first ranks of its host; -1: it does not.
  std::vector<int> turn;
  int turns = 1;
};

std::string host_of(const Ranks& ranks, std::size_t rank) {
  return ranks.group() == nullptr ? "this process" : ranks.group()->hosts()[rank];
}

Roles roles_of(const Ranks& ranks, const RankPlanOptions& options) {
  Roles roles;
  roles.kinds = ranks.gather(options.kind, kPhase);
  if (!options.may_differ) std::ranges::fill(roles.kinds, std::string(roles.kinds.front()));
  std::map<std::string, int> taken;
  for (std::size_t rank = 0; rank < roles.kinds.size(); ++rank) {
    const auto same = std::ranges::find(roles.kinds, roles.kinds[rank]);
    roles.first.push_back(static_cast<std::size_t>(same - roles.kinds.begin()));
    roles.turn.push_back(roles.first[rank] == rank ? taken[host_of(ranks, rank)]++ : -1);
    roles.turns = std::max(roles.turns, roles.turn[rank] + 1);
  }
  return roles;
}

std::vector<std::string> order_of(const engine::Executable& executable) {
  std::vector<std::string> names;
  for (const engine::ParameterSlice& slice : executable.slices()) {
    names.push_back(executable.graph().parameter(slice.parameter).name);
  }
  return names;
}

// What must be equal so that gradients can be averaged element by element: where each of them lies, and what travels
// together. Layouts have no names that say all, so numbered values are laid out; backward writes over them.
std::string arena_hash(engine::Executable& executable) {
  constexpr std::size_t kNumbers = 16'777'213;  // a prime below 2^24: exact in f32, and no stride of a layout meets it
  const std::span<float> arena = executable.gradients();
  std::ranges::fill(arena, 0.0F);
  for (const engine::ParameterSlice& slice : executable.slices()) {
    const auto count = static_cast<std::size_t>(executable.graph().parameter(slice.parameter).shape.elements());
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % kNumbers + 1);
    executable.from_plain(slice.parameter, values, arena);
  }
  std::string text = fmt::format("{:016x}", hash_of(arena));
  std::ranges::fill(arena, 0.0F);
  for (const engine::Bucket& bucket : executable.buckets()) text += fmt::format(" {}", bucket.count);
  return text;
}

// What ranks compare.
struct Identity {
  std::string hash;
  std::string dtype;
  /// Empty: there are no gradients.
  std::string arena;
};

std::vector<Identity> gather_identities(const Ranks& ranks, engine::Executable& executable) {
  const engine::Plan& plan = executable.plan();
  const bool is_exchanged = ranks.size() > 1 && !executable.gradients().empty();
  const std::string own = lines_of({plan.hash(), plan.dtype(), is_exchanged ? arena_hash(executable) : "none"});
  std::vector<Identity> all;
  for (const std::string& text : ranks.gather(own, kPhase)) {
    const std::vector<std::string> lines = parse_lines(text);
    all.push_back({.hash = lines.at(0), .dtype = lines.at(1), .arena = lines.at(2)});
  }
  return all;
}

// The same on all ranks, so that all of them refuse.
void require_fit(const Ranks& ranks, const Roles& roles, const std::vector<Identity>& all) {
  const auto name = [&](std::size_t rank) { return fmt::format("rank {} ({})", rank, host_of(ranks, rank)); };
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::size_t first = roles.first[rank];
    if (all[rank].hash != all[first].hash) {
      throw ConfigError(error_text("train.ranks", "plan of " + name(rank),
                                   fmt::format("{}, as {}'s", all[first].hash, name(first)), all[rank].hash,
                                   "the same program and the same kind of processor on all hosts"));
    }
    if (all[rank].dtype != all[0].dtype) {
      throw ConfigError(error_text("train.ranks", "values on " + name(rank),
                                   fmt::format("{}, as on {}", all[0].dtype, name(0)), all[rank].dtype,
                                   "train.dtype = \"f32\""));
    }
    if (all[rank].arena != all[0].arena) {
      throw ConfigError(error_text(
          "train.ranks", "gradients of " + name(rank),
          fmt::format("laid out as {}'s, with which they are averaged ({})", name(0), roles.kinds[0]),
          fmt::format("another layout ({})", roles.kinds[rank]), "hosts whose processors have vectors of one width"));
    }
  }
}

std::vector<KindPlan> plans_of(const Roles& roles, const std::vector<std::string>& choices,
                               const std::vector<Identity>& all, const std::vector<KindPlan>& known) {
  std::vector<KindPlan> plans;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (roles.first[rank] != rank) continue;
    plans.push_back({.kind = roles.kinds[rank], .choices = parse_choices(choices[rank]), .hash = all[rank].hash});
  }
  for (const KindPlan& plan : known) {
    const bool is_there = std::ranges::count(plans, plan.kind, &KindPlan::kind) > 0;
    if (!is_there && !plan.kind.empty()) plans.push_back(plan);
  }
  return plans;
}

// The plan to compile by where none is known for the kind: a run that goes on with machines of one other kind keeps its
// kernels, if those have them. Null: kernels are chosen.
const KindPlan* borrowed_plan(const Roles& roles, const std::vector<KindPlan>& known) {
  const bool is_one_kind = std::ranges::all_of(roles.first, [](std::size_t first) { return first == 0; });
  return is_one_kind && !known.empty() ? &known.front() : nullptr;
}

// The first of a kind. The same bits as before count for more than the fastest kernels.
std::unique_ptr<engine::Executable> compile_first(const KindPlan* known, const KindPlan* borrowed,
                                                  const CompilePlan& compile) {
  if (known != nullptr) return compile({.choices = known->choices});
  if (borrowed == nullptr) return compile({});
  try {
    return compile({.choices = borrowed->choices});
  } catch (const ConfigError& error) {
    log::warning(fmt::format("the stored kernels are not for this machine, others are chosen: {}", error.what()));
    return compile({});
  }
}

}  // namespace

engine::CompileOptions GivenPlan::put_into(engine::CompileOptions options) const {
  if (!choices.empty()) options.choices = choices;
  if (!arena_order.empty()) options.arena_order = arena_order;
  return options;
}

RankPlan compile_as_one(const Ranks& ranks, const RankPlanOptions& options, const CompilePlan& compile) {
  const Roles roles = roles_of(ranks, options);
  const auto own = static_cast<std::size_t>(ranks.rank());
  RankPlan made;
  const KindPlan* const known = find_plan(options.known, roles.kinds[own]);
  std::vector<std::string> choices(roles.kinds.size());
  for (int turn = 0; turn < roles.turns; ++turn) {
    const bool is_now = roles.turn[own] == turn;
    if (is_now) made.executable = compile_first(known, borrowed_plan(roles, options.known), compile);
    const std::vector<std::string> now = ranks.gather(is_now ? text_of(made.executable->plan().choices) : "", kPhase);
    for (std::size_t rank = 0; rank < now.size(); ++rank) choices[rank] += now[rank];
  }
  const std::vector<std::string> order = made.executable ? order_of(*made.executable) : std::vector<std::string>{};
  GivenPlan given{.choices = parse_choices(choices[roles.first[own]])};
  given.arena_order = parse_lines(ranks.broadcast(lines_of(order), kPhase));
  if (!made.executable || order != given.arena_order) {
    made.executable.reset();  // not both at a time
    made.executable = compile(given);
  }
  const std::vector<Identity> all = gather_identities(ranks, *made.executable);
  require_fit(ranks, roles, all);
  made.plans = plans_of(roles, choices, all, options.known);
  return made;
}

const KindPlan* find_plan(std::span<const KindPlan> plans, const std::string& kind) {
  for (const std::string& wanted : {kind, std::string()}) {
    const auto found = std::ranges::find(plans, wanted, &KindPlan::kind);
    if (found != plans.end()) return &*found;
  }
  return nullptr;
}

std::string dtype_of(std::span<const KindPlan> plans) {
  if (plans.empty()) return "";
  const auto found = plans.front().choices.find(std::string(engine::kDtypeChoice));
  return found == plans.front().choices.end() ? "f32" : found->second;
}

std::vector<std::string> plan_changes(std::span<const KindPlan> before, std::span<const KindPlan> now) {
  std::vector<std::string> lines;
  for (const KindPlan& plan : now) {
    const KindPlan* const was = find_plan(before, plan.kind);
    if (was != nullptr ? was->hash == plan.hash : std::ranges::count(before, plan.hash, &KindPlan::hash) > 0) continue;
    const bool are_kept = std::ranges::count(before, plan.choices, &KindPlan::choices) > 0;
    const std::string what =
        was != nullptr
            ? "the kernels differ from those the run began with"
            : fmt::format("{} machines that the run was not on before ({})",
                          are_kept ? "the stored kernels are run by" : "kernels are chosen anew for", plan.kind);
    lines.push_back(what + ": the weights will differ in their last bits");
  }
  return lines;
}

}  // namespace roentgen::train
