// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/one_plan.h"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/text_hash.h"
#include "dist/comm_thread.h"
#include "engine/engine.h"
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

// Hash of the position of each parameter and gradient, and of the buckets. Layouts have no complete names, so numbered
// values are laid out and hashed.
std::string layout_hash(engine::Executable& executable) {
  constexpr std::size_t kNumbers = 16'777'213;  // a prime below 2^24: exact in f32, and no stride of a layout meets it
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
  throw ConfigError(error_text("train.ranks", fmt::format("{} of {}", what, name_of(ranks, difference->rank)),
                               fmt::format("{}, as {}'s", difference->first, name_of(ranks, 0)), difference->other,
                               remedy));
}

}  // namespace

engine::ChoiceInputs shared_choice_inputs(const Ranks& ranks, const engine::Engine& engine, int threads) {
  const std::vector<std::string> sets = ranks.gather(engine.instruction_set(), kPhase);
  engine::ChoiceInputs inputs{.instruction_set = engine.least_instruction_set(sets), .threads = threads};
  ranks.share(inputs.threads, kPhase);
  return inputs;
}

void require_one_plan(const Ranks& ranks, engine::Executable& executable) {
  if (ranks.size() == 1) return;
  constexpr std::string_view kRemedy =
      "the same program on hosts whose processors have vectors of one width, or DNNL_MAX_CPU_ISA=AVX2 on all of them";
  require_equal(ranks, choices_hash(executable.plan().choices), "choice of kernels", kRemedy);
  // No gradients lie anywhere in inference, where other kernels of the same name would mix digits unseen.
  if (executable.gradients().elements() == 0) {
    require_equal(ranks, executable.plan().hash(), "plan of kernels", kRemedy);
  } else {
    require_equal(ranks, layout_hash(executable), "layout of gradients", kRemedy);
  }
}

}  // namespace roentgen::train
