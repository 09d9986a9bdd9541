// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/one_plan.h"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text_hash.h"
#include "core/value.h"
#include "dist/comm_thread.h"
#include "engine/engine.h"
#include "io/json.h"
#include "train/ranks.h"

namespace roentgen::train {
namespace {

constexpr dist::Phase kPhase{.name = "plan"};

std::string name_of(const Ranks& ranks, int rank) { return fmt::format("rank {} ({})", rank, ranks.host(rank)); }

std::string choices_hash(const KernelChoices& choices) {
  std::string text;
  for (const auto& [key, choice] : choices) text += key + "=" + choice + ";";
  return fmt::format("{:016x}", text_hash(text));
}

// Hashes the memory layout of parameters, gradients and buckets. A layout has no complete description, so the function
// stores numbered values in that layout and hashes the memory.
std::string layout_hash(engine::Executable& executable) {
  constexpr std::size_t kNumbers = 16'777'213;  // prime below 2^24: exact in f32, and not a multiple of any stride
  const std::unique_ptr<engine::Arena> arena = executable.make_arena(engine::ArenaKind::Trained);
  for (const engine::ParameterSlice& slice : executable.slices()) {
    const auto count = static_cast<std::size_t>(executable.graph().parameter(slice.parameter).shape.elements());
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % kNumbers + 1);
    executable.load(slice.parameter, values, *arena);
  }
  std::string text = fmt::format("{:016x}", hash_of(*arena));
  for (const engine::Bucket& bucket : executable.buckets()) text += fmt::format(" {}", bucket.count);
  return text;
}

void require_equal(const Ranks& ranks, const std::string& own, std::string_view what, std::string_view remedy) {
  const auto difference = find_difference(ranks, own, kPhase);
  if (!difference) return;
  throw ConfigError(error_text("train.ranks", fmt::format("{} on {}", what, name_of(ranks, difference->rank)),
                               fmt::format("{}, as on {}", difference->first, name_of(ranks, 0)), difference->other,
                               remedy));
}

// Returns rank 0's kernel choices, on all ranks.
KernelChoices shared_choices(const Ranks& ranks, const KernelChoices& own) {
  Value table = Value::table();
  for (const auto& [key, choice] : own) table.set(key, choice);
  const std::string text = ranks.broadcast(io::to_json(table, -1), kPhase);
  KernelChoices shared;
  const Value read = io::parse_json(text, "choices of rank 0").or_throw<CommError>();
  for (const auto& [key, choice] : read.as_table()) shared[key] = choice.as_string();
  return shared;
}

}  // namespace

engine::ChoiceInputs shared_choice_inputs(const Ranks& ranks, const engine::Engine& engine, int threads) {
  const std::vector<std::string> sets = ranks.gather(engine.instruction_set(), kPhase);
  engine::ChoiceInputs inputs{.instruction_set = engine.least_instruction_set(sets), .threads = threads};
  ranks.share(inputs.threads, kPhase);
  return inputs;
}

std::unique_ptr<engine::Executable> compile_on_ranks(const Ranks& ranks, engine::Engine& engine,
                                                     const graph::Graph& graph, engine::CompileOptions options) {
  if (ranks.size() == 1 || !options.choices.empty() || !engine.times_kernels()) return engine.compile(graph, options);
  std::unique_ptr<engine::Executable> made;
  if (ranks.is_first()) made = engine.compile(graph, options);
  options.choices = shared_choices(ranks, made == nullptr ? KernelChoices{} : made->plan().choices);
  return made == nullptr ? engine.compile(graph, options) : std::move(made);
}

void require_one_plan(const Ranks& ranks, engine::Executable& executable) {
  if (ranks.size() == 1) return;
  constexpr std::string_view kRemedy =
      "the same build on processors of one type, or DNNL_MAX_CPU_ISA=AVX2 on all hosts";
  require_equal(ranks, choices_hash(executable.plan().choices), "choice of kernels", kRemedy);
  // Inference: compares the whole plan, because kernels of equal name may give other results on another machine.
  if (executable.gradients().elements() == 0) {
    require_equal(ranks, executable.plan().hash(), "plan of kernels", kRemedy);
  } else {
    require_equal(ranks, layout_hash(executable), "layout of gradients", kRemedy);
  }
}

}  // namespace roentgen::train
