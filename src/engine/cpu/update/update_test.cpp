// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/update/update.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "core/random.h"
#include "engine/cpu/update/flat.h"
#include "engine/reference/update.h"
#include "engine/update/rule_cases_testing.h"

namespace roentgen::engine::cpu {
namespace {

// Same values as in tools/peers/optimizer_golden.py.
float golden_parameter(int i) { return static_cast<float>(i * 37 % 11 - 5) / 8.0F; }
float golden_gradient(int i, int step) { return static_cast<float>((i * 7 + step * 13) % 17 - 8) / 16.0F; }

/// A rule that has golden values, and the options for which they were computed.
struct Golden {
  RuleCase of;
  double weight_decay = 0.0;
};

const Golden kGolden[] = {
    {{"sgd", Sgd{.momentum = 0.0}, 0.1}, 0.0},
    {{"sgd_momentum", Sgd{.momentum = 0.9}, 0.1}, 0.01},
    {{"sgd_nesterov", Sgd{.momentum = 0.9, .nesterov = true}, 0.1}, 0.01},
    {{"adam", Adam{}, 0.01}, 0.1},
    {{"adamw", Adam{.decoupled = true}, 0.01}, 0.1},
    {{"rmsprop", RmsProp{.momentum = 0.0, .alpha = 0.9}, 0.01}, 0.1},
    {{"rmsprop_momentum", RmsProp{}, 0.01}, 0.0},
    {{"rmsprop_centered", RmsProp{.momentum = 0.5, .centered = true}, 0.01}, 0.1},
};

constexpr double kDecay = 0.01;

std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.uniform(-1.0, 1.0));
  return values;
}

/// Arenas of one rule: target, source and state.
class Memory {
 public:
  Memory(const UpdateRule& rule, std::vector<float> target)
      : rule_(rule), target_(make(std::ssize(target))), source_(make(std::ssize(target))) {
    target_->upload(0, target);
    for (std::size_t i = 0; i < state_of(rule).size(); ++i) {
      state_.push_back(make(std::ssize(target)));
      arenas_.push_back(state_.back().get());
    }
  }

  /// Numbers of an update. `threads`: number of threads of the kernel; 0: the reference runs instead.
  struct Numbers {
    double lr = 0.1;
    std::int64_t step = 1;
    double scale = 1.0;
    int threads = 1;
  };
  void update(std::span<const UpdateRange> ranges, const std::vector<float>& source, const Numbers& numbers) {
    source_->upload(0, source);
    const UpdateWork work{.target = *target_,
                          .source = *source_,
                          .state = arenas_,
                          .ranges = ranges,
                          .lr = numbers.lr,
                          .step = numbers.step,
                          .scale = numbers.scale};
    if (numbers.threads == 0) return reference::update(rule_, work);
    const UpdateCall call{.work = work, .scale = work.scale, .threads = numbers.threads};
    std::visit([&](const auto& rule) { cpu::update(rule, call); }, rule_);
  }
  [[nodiscard]] std::vector<float> target() const { return target_->values(); }
  void take_state_of(const Memory& other) {
    for (std::size_t i = 0; i < state_.size(); ++i) copy_arena(*other.state_[i], *state_[i]);
  }

 private:
  [[nodiscard]] std::unique_ptr<Arena> make(std::int64_t elements) const {
    return std::make_unique<Arena>(*device_, *stream_, elements);
  }

  UpdateRule rule_;
  std::unique_ptr<runtime::Device> device_ = runtime::make_cpu_device();
  std::unique_ptr<runtime::Stream> stream_ = device_->make_stream();
  std::unique_ptr<Arena> target_, source_;
  std::vector<std::unique_ptr<Arena>> state_;
  std::vector<Arena*> arenas_;
};

// Reads the rows of tests/golden/optimizers.csv for one case: (steps) x (elements).
std::vector<std::vector<double>> golden_rows(std::string_view name) {
  const char* source = std::getenv("ROENTGEN_SOURCE_DIR");
  std::ifstream file((source ? std::string(source) : std::string(".")) + "/tests/golden/optimizers.csv");
  EXPECT_TRUE(file.good()) << "tests/golden/optimizers.csv: run from the source folder or set ROENTGEN_SOURCE_DIR";
  std::vector<std::vector<double>> rows;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string field;
    std::getline(fields, field, ',');
    if (field != name) continue;
    std::getline(fields, field, ',');
    rows.emplace_back();
    while (std::getline(fields, field, ',')) rows.back().push_back(std::stod(field));
  }
  return rows;
}

TEST(CpuUpdate, gives_torchs_values) {
  for (const auto& [of, weight_decay] : kGolden) {
    SCOPED_TRACE(of.name);
    const auto golden = golden_rows(of.name);
    ASSERT_EQ(golden.size(), 5U);
    std::vector<float> p(8), g(8);
    for (int i = 0; i < 8; ++i) p[i] = golden_parameter(i);
    Memory memory(of.rule, p);
    const UpdateRange range{.begin = 0, .count = 8, .weight_decay = weight_decay};
    for (int step = 1; step <= 5; ++step) {
      for (int i = 0; i < 8; ++i) g[i] = golden_gradient(i, step);
      memory.update({&range, 1}, g, {.lr = of.lr, .step = step});
      p = memory.target();
      // Both results are float32. In Adam the order of operations differs, by a few units in the last place of values
      // below 1.
      for (int i = 0; i < 8; ++i) EXPECT_NEAR(p[i], golden[step - 1][i], 5e-7) << step << " " << i;
    }
  }
}

TEST(CpuUpdate, follows_the_reference_over_several_chunks) {
  const std::size_t count = 3 * kChunkElements + 17;
  for (const RuleCase& c : rule_cases()) {
    Memory kernel(c.rule, random_values(count, 1)), reference(c.rule, random_values(count, 1));
    // Two ranges are layers, the third is not.
    const auto half = static_cast<std::int64_t>(count / 2);
    const UpdateRange ranges[] = {{.begin = 0, .count = half, .weight_decay = kDecay, .is_layer = true},
                                  {.begin = half, .count = 1000, .weight_decay = kDecay, .is_layer = true},
                                  {.begin = half + 1000, .count = half - 1000}};
    for (int step = 1; step <= 4; ++step) {
      const std::vector<float> g = random_values(count, 10 + static_cast<std::uint64_t>(step));
      const double scale = is_optimizer(c.rule) ? 0.5 : 1.0;
      kernel.update(ranges, g, {.lr = c.lr, .step = step, .scale = scale, .threads = 2});
      reference.update(ranges, g, {.lr = c.lr, .step = step, .scale = scale, .threads = 0});
    }
    const std::vector<float> got = kernel.target(), expected = reference.target();
    // Four float32 updates of size <= lr, each rounded by 2^-24 of a value below 4. Adam divides by sqrt(v) and
    // inherits the relative error of v. This error is small, except for gradients near 0, where epsilon dominates.
    for (std::size_t i = 0; i < count; ++i) {
      // The comparison is false for NaN.
      ASSERT_TRUE(std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i])) < 2e-6) << c.name << i;
    }
  }
}

TEST(CpuUpdate, gives_the_same_bits_with_any_team) {
  const std::size_t count = 5 * kChunkElements + 3;
  const std::vector<float> g = random_values(count, 2);
  for (const RuleCase& c : rule_cases()) {
    std::vector<std::vector<float>> results;
    for (const int threads : {1, 2, 3}) {
      Memory memory(c.rule, random_values(count, 1));
      const UpdateRange range{
          .begin = 0, .count = static_cast<std::int64_t>(count), .weight_decay = kDecay, .is_layer = true};
      memory.update({&range, 1}, g, {.lr = c.lr, .threads = threads});
      results.push_back(memory.target());
    }
    EXPECT_EQ(results[0], results[1]) << c.name;
    EXPECT_EQ(results[0], results[2]) << c.name;
  }
}

TEST(CpuUpdate, decays_only_the_ranges_that_ask_for_it) {
  const UpdateRange ranges[] = {{.begin = 0, .count = 2, .weight_decay = 0.5}, {.begin = 2, .count = 1}};
  Memory memory(Sgd{.momentum = 0.0}, std::vector<float>(4, 1.0F));
  memory.update(ranges, std::vector<float>(4, 0.0F), {.lr = 1.0});
  EXPECT_EQ(memory.target(), (std::vector<float>{0.5F, 0.5F, 1.0F, 1.0F}));
}

TEST(CpuUpdate, keeps_zero_padding_zero) {
  for (const RuleCase& c : rule_cases()) {
    const UpdateRange range{.begin = 0, .count = 16, .weight_decay = 0.1, .is_layer = true};
    Memory memory(c.rule, std::vector<float>(16));
    for (int step = 1; step <= 3; ++step) memory.update({&range, 1}, std::vector<float>(16), {.step = step});
    EXPECT_EQ(memory.target(), std::vector<float>(16)) << c.name;
  }
}

TEST(CpuUpdate, goes_on_from_restored_state) {
  for (const RuleCase& c : rule_cases()) {
    const UpdateRange range{.begin = 0, .count = 100, .weight_decay = kDecay};
    const auto update = [&](Memory& memory, int step) {
      memory.update({&range, 1}, random_values(100, static_cast<std::uint64_t>(step)), {.lr = c.lr, .step = step});
    };
    Memory straight(c.rule, random_values(100, 3));
    for (int step = 1; step <= 2; ++step) update(straight, step);
    Memory resumed(c.rule, straight.target());
    resumed.take_state_of(straight);
    for (int step = 3; step <= 4; ++step) update(straight, step);
    for (int step = 3; step <= 4; ++step) update(resumed, step);
    EXPECT_EQ(straight.target(), resumed.target()) << c.name;
  }
}

TEST(CpuUpdate, of_lars_does_not_feel_the_scale_of_a_gradient) {
  const UpdateRange range{.begin = 0, .count = 64, .weight_decay = 0.0, .is_layer = true};
  Memory once(Lars{}, random_values(64, 5)), tenfold(Lars{}, random_values(64, 5));
  once.update({&range, 1}, random_values(64, 6), {.lr = 1.0});
  tenfold.update({&range, 1}, random_values(64, 6), {.lr = 1.0, .scale = 10.0});
  for (std::size_t i = 0; i < 64; ++i) EXPECT_NEAR(once.target()[i], tenfold.target()[i], 1e-6);
}

TEST(CpuUpdate, of_lars_makes_a_plain_step_from_zero) {
  const UpdateRange range{.begin = 0, .count = 2, .weight_decay = 0.1, .is_layer = true};
  Memory memory(Lars{}, {0.0F, 0.0F});
  memory.update({&range, 1}, {1.0F, -2.0F}, {.lr = 0.5});
  EXPECT_EQ(memory.target(), (std::vector<float>{-0.5F, 1.0F}));
}

TEST(SumOfSquares, is_exact_in_double_and_independent_of_the_team) {
  const std::vector<float> values = random_values(4 * kChunkElements + 5, 7);
  double expected = 0.0;
  for (const float value : values) expected += static_cast<double>(value) * static_cast<double>(value);
  const double one = sum_of_squares(values, 1);
  EXPECT_NEAR(one / expected, 1.0, 1e-12);  // both sums are in double, with 65,000 terms in another order
  EXPECT_EQ(one, sum_of_squares(values, 3));
}

TEST(SumOfSquares, shows_a_nan) {
  std::vector<float> values(100, 1.0F);
  values[77] = std::nanf("");
  EXPECT_TRUE(std::isnan(sum_of_squares(values, 2)));
}

}  // namespace
}  // namespace roentgen::engine::cpu
