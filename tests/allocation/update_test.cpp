// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that whole updates (forward, backward, optimizer) allocate no memory from the third update on. Covers every
// algorithm of this machine, both dtypes, every choice of recomputation, and every optimizer.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/allocation_count_testing.h"
#include "core/random.h"
#include "data/stage/batch.h"
#include "engine/conformance/cases.h"
#include "engine/cpu/simd/pointwise.h"
#include "engine/engine.h"
#include "train/optimizer/optimizer.h"
#include "train/stepper.h"

namespace roentgen {
namespace {

constexpr std::uint64_t kSeed = 20261124;

/// Batch source that returns the executable's slots in turn, as a loader does.
class Slots final : public data::BatchSource {
 public:
  explicit Slots(engine::Executable& executable) {
    for (std::size_t i = 0; i < executable.inputs().size(); ++i) {
      for (int slot = 0; slot < kCount; ++slot) fill(executable, i, slot);
    }
  }
  [[nodiscard]] std::optional<data::Batch> next() override {
    slot_ = (slot_ + 1) % kCount;
    return data::Batch{.slot = slot_, .samples = samples_, .valid = std::ssize(samples_)};
  }
  void release(int /*slot*/) override {}

 private:
  static constexpr int kCount = 2;
  // Labels and masks are 0 or 1.
  static void fill(engine::Executable& executable, std::size_t input, int slot) {
    const std::span<std::byte> bytes = executable.slot(static_cast<std::int64_t>(input), slot);
    Random random(kSeed + static_cast<std::uint64_t>(slot), RandomStage::Test, input);
    const bool is_image = executable.inputs()[input].name == "image";
    for (std::size_t k = 0; k < bytes.size(); k += sizeof(float)) {
      const float value = is_image ? static_cast<float>(random.normal()) : (random.chance(0.7) ? 1.0F : 0.0F);
      std::memcpy(bytes.data() + k, &value, sizeof(float));
    }
  }

  std::array<std::uint32_t, 2> samples_{};
  int slot_ = 0;
};

/// Runs two updates that may allocate, then expects three without allocation.
void expect_no_allocation(engine::Executable& executable, const train::StepperOptions& options) {
  engine::initialise(executable, kSeed);
  Slots batches(executable);
  train::Stepper stepper(executable, options);
  const auto update = [&](std::int64_t step) { static_cast<void>(stepper.update(batches, step, 1e-3)); };
  update(0);
  update(1);
  {
    const AllocationCount count;
    for (const std::int64_t step : {2, 3, 4}) update(step);
  }
  EXPECT_EQ(AllocationCount::ours(), 0) << executable.graph().name() << ", in three updates; seed " << kSeed;
}

using Way = std::tuple<const char*, const char*, const char*>;

/// Fixture with an algorithm, a dtype and a choice of recomputation.
class UpdateAllocation : public testing::TestWithParam<Way> {
 protected:
  void expect_none(const std::vector<engine::conformance::Case>& cases) {
    const auto& [algorithms, dtype, recompute] = GetParam();
    const std::unique_ptr<engine::Engine> engine = engine::make_engine("cpu");
    std::int64_t chosen = 0;
    for (const engine::conformance::Case& tested : cases) {
      const auto executable = engine->compile(tested.graph, {.threads = 2,
                                                             .bucket_bytes = 2048,
                                                             .algorithms = engine::parse_algorithms(algorithms),
                                                             .dtype = engine::parse_dtype(dtype),
                                                             .recompute = recompute});
      for (const auto& [key, choice] : executable->plan().choices) {
        const bool is_of_bf16 = choice == "winograd_bf16" || (choice == "bf16" && key != engine::kDtypeChoice);
        chosen += choice == algorithms || is_of_bf16 ? 1 : 0;
      }
      expect_no_allocation(*executable, {.optimizer = "adam"});
    }
    // Layers that other algorithms compute are tested as well.
    if (std::string_view(algorithms).starts_with("split") && chosen == 0) {
      GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
    }
    if (std::string_view(algorithms) == "pointwise" && chosen == 0 && !engine::cpu::simd::has_avx512()) {
      GTEST_SKIP() << "SKIPPED: this machine has no AVX-512";
    }
    EXPECT_TRUE(chosen > 0 || std::string_view(algorithms) == "auto");
  }
};

TEST_P(UpdateAllocation, is_none_from_the_third_update_on) {
  if (!kCanCountAllocations) GTEST_SKIP() << "SKIPPED: the sanitizer owns operator new; the release build counts";
  expect_none(engine::conformance::network_cases());
}

INSTANTIATE_TEST_SUITE_P(Networks, UpdateAllocation,
                         testing::Combine(testing::Values("direct", "winograd", "split", "split2", "pointwise", "auto"),
                                          testing::Values("f32", "bf16"), testing::Values("none", "auto", "all")),
                         [](const auto& chosen) {
                           return std::string(std::get<0>(chosen.param)) + "_" + std::get<1>(chosen.param) +
                                  "_recompute_" + std::get<2>(chosen.param);
                         });

// Tests each op with all its conformance cases.
TEST(OpAllocation, is_none_from_the_third_update_on) {
  if (!kCanCountAllocations) GTEST_SKIP() << "SKIPPED: the sanitizer owns operator new; the release build counts";
  const std::unique_ptr<engine::Engine> engine = engine::make_engine("cpu");
  for (const engine::conformance::Case& tested : engine::conformance::all_cases()) {
    const auto executable = engine->compile(tested.graph, {.threads = 1});
    expect_no_allocation(*executable, {.optimizer = "sgd"});
  }
}

/// Name of the optimizer, and whether to use its rare features: Nesterov momentum if it has it, a limit on the gradient
/// norm, two batches per update.
class OptimizerAllocation : public testing::TestWithParam<std::tuple<std::string_view, bool>> {};

TEST_P(OptimizerAllocation, is_none_from_the_third_update_on) {
  if (!kCanCountAllocations) GTEST_SKIP() << "SKIPPED: the sanitizer owns operator new; the release build counts";
  const auto& [name, has_more] = GetParam();
  const auto executable =
      engine::make_engine("cpu")->compile(engine::conformance::network_cases().front().graph, {.threads = 2});
  train::StepperOptions options{.optimizer = std::string(name), .rules = {}, .weight_decay = 1e-4};
  if (has_more) {
    std::get<engine::Sgd>(options.rules).nesterov = name == "sgd";
    options.accumulate = 2;
    options.clip_norm = 0.5;
  }
  expect_no_allocation(*executable, options);
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerAllocation,
                         testing::Combine(testing::ValuesIn(train::optimizer_names()), testing::Bool()),
                         [](const auto& chosen) {
                           return std::string(std::get<0>(chosen.param)) +
                                  (std::get<1>(chosen.param) ? "_clipped_and_accumulated" : "");
                         });

}  // namespace
}  // namespace roentgen
