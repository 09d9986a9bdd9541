// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plans of the ranks of a run: one for each kind of machine among them, chosen by one rank of the kind for the others.
// The choosing itself is the engine's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace roentgen::engine {
struct CompileOptions;
class Executable;
}  // namespace roentgen::engine

namespace roentgen::train {

class Ranks;

/// Plan::choices.
using KernelChoices = std::map<std::string, std::string>;

/// What ranks of one kind compute by.
struct KindPlan {
  /// Engine::machine_kind(); empty: of every kind, in files of versions that knew one plan only.
  std::string kind;
  KernelChoices choices;
  /// Plan::hash().
  std::string hash;
  friend bool operator==(const KindPlan&, const KindPlan&) = default;
};

/// What a plan must have instead of what would be chosen; empty: nothing is said of it.
struct GivenPlan {
  KernelChoices choices{};
  /// CompileOptions::arena_order.
  std::vector<std::string> arena_order{};
  /// The options with what is said of it.
  [[nodiscard]] engine::CompileOptions put_into(engine::CompileOptions options) const;
};

/// How ranks come to plans.
struct RankPlanOptions {
  /// Of this rank: Engine::machine_kind().
  std::string kind{};
  /// Ranks of other kinds than rank 0's have plans of their own: for training that exchanges gradients and nothing
  /// within a step. Else all have rank 0's.
  bool may_differ = false;
  /// Of an earlier part of the run; the same on all ranks.
  std::vector<KindPlan> known{};
};

/// What compile_as_one() makes.
struct RankPlan {
  std::unique_ptr<engine::Executable> executable;
  /// The same on all ranks: rank 0's, those of the other kinds by their lowest rank, then known ones that no rank is
  /// of.
  std::vector<KindPlan> plans;
};

/// Compiles with what is given, whatever was given before.
using CompilePlan = std::function<std::unique_ptr<engine::Executable>(const GivenPlan& given)>;

/// Compiles on the lowest rank of each kind, which takes the known plan of its kind or may choose kernels by timing
/// them, those of one host one after the other; where all ranks are of one kind that is not known, by the first known
/// plan if their machines have its kernels; then on the others with the choices of their kind. All lay gradients
/// out as rank 0 does, since they travel in that form.
/// Throws ConfigError, on all ranks, naming rank and host: where ranks of one kind come to unequal plans, and where
/// kinds do that cannot be averaged, since the values are stored in another type or the gradients lie otherwise.
[[nodiscard]] RankPlan compile_as_one(const Ranks& ranks, const RankPlanOptions& options, const CompilePlan& compile);

/// The known plan for that kind: its own, or one of every kind; null without.
[[nodiscard]] const KindPlan* find_plan(std::span<const KindPlan> plans, const std::string& kind);

/// "f32" or "bf16": what values are stored in, in all of these plans; empty without any.
[[nodiscard]] std::string dtype_of(std::span<const KindPlan> plans);

/// What a resumed run computes otherwise than before, a line each: kinds that it was not on, whose kernels were chosen
/// anew, and plans that changed.
/// @param before of the resume file
/// @param now RankPlan::plans
[[nodiscard]] std::vector<std::string> plan_changes(std::span<const KindPlan> before, std::span<const KindPlan> now);

}  // namespace roentgen::train
