// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/optimizer/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "core/error.h"
#include "core/random.h"
#include "train/optimizer/flat.h"

namespace roentgen::train {
namespace {

// As in tools/peers/optimizer_golden.py.
float golden_parameter(int i) { return static_cast<float>(i * 37 % 11 - 5) / 8.0F; }
float golden_gradient(int i, int step) { return static_cast<float>((i * 7 + step * 13) % 17 - 8) / 16.0F; }

struct Case {
  std::string_view golden;
  std::string_view optimizer;
  OptimizerOptions options;
  double lr;
  double weight_decay;
};

const Case kCases[] = {
    {"sgd", "sgd", {.momentum = 0.0}, 0.1, 0.0},
    {"sgd_momentum", "sgd", {.momentum = 0.9}, 0.1, 0.01},
    {"sgd_nesterov", "sgd", {.momentum = 0.9, .is_nesterov = true}, 0.1, 0.01},
    {"adam", "adam", {}, 0.01, 0.1},
    {"adamw", "adamw", {}, 0.01, 0.1},
};

// Rows of tests/golden/optimizers.csv for one case: (steps) x (elements).
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

std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.uniform(-1.0, 1.0));
  return values;
}

// The formulas of sgd.cpp and adam.cpp once more, in double and without any structure.
struct Naive {
  std::vector<double> p, a, b;

  void step(const Case& c, std::span<const float> gradients, double scale, std::int64_t t) {
    for (std::size_t i = 0; i < p.size(); ++i) {
      double g = scale * static_cast<double>(gradients[i]);
      if (c.optimizer != "adamw") g += c.weight_decay * p[i];
      if (c.optimizer == "sgd") {
        a[i] = c.options.momentum * a[i] + g;
        p[i] -= c.lr * (c.options.is_nesterov ? g + c.options.momentum * a[i] : a[i]);
        continue;
      }
      if (c.optimizer == "adamw") p[i] *= 1.0 - c.lr * c.weight_decay;
      a[i] = c.options.beta1 * a[i] + (1.0 - c.options.beta1) * g;
      b[i] = c.options.beta2 * b[i] + (1.0 - c.options.beta2) * g * g;
      const auto time = static_cast<double>(t);
      const double mean = a[i] / (1.0 - std::pow(c.options.beta1, time));
      const double square = b[i] / (1.0 - std::pow(c.options.beta2, time));
      p[i] -= c.lr * mean / (std::sqrt(square) + c.options.epsilon);
    }
  }
};

TEST(Optimizer, gives_torchs_values) {
  for (const Case& c : kCases) {
    const auto golden = golden_rows(c.golden);
    ASSERT_EQ(golden.size(), 5U) << c.golden;
    std::vector<float> p(8), g(8);
    for (int i = 0; i < 8; ++i) p[i] = golden_parameter(i);
    const auto optimizer = make_optimizer(c.optimizer, c.options, 8);
    const UpdateRange range{.begin = 0, .count = 8, .weight_decay = c.weight_decay};
    for (int step = 1; step <= 5; ++step) {
      for (int i = 0; i < 8; ++i) g[i] = golden_gradient(i, step);
      optimizer->apply({.parameters = p, .gradients = g, .ranges = {&range, 1}, .lr = c.lr, .step = step});
      // Both are float32; the order of operations differs in adam: a few units in the last place of values below 1.
      for (int i = 0; i < 8; ++i) EXPECT_NEAR(p[i], golden[step - 1][i], 5e-7) << c.golden << " " << step << " " << i;
    }
  }
}

TEST(Optimizer, follows_a_naive_double_loop_over_several_chunks) {
  const std::size_t count = 3 * kChunkElements + 17;
  for (const Case& c : kCases) {
    std::vector<float> p = random_values(count, 1);
    Naive naive{.p = {p.begin(), p.end()}, .a = std::vector<double>(count), .b = std::vector<double>(count)};
    OptimizerOptions options = c.options;
    options.threads = 2;
    const auto optimizer = make_optimizer(c.optimizer, options, static_cast<std::int64_t>(count));
    const UpdateRange range{.begin = 0, .count = static_cast<std::int64_t>(count), .weight_decay = c.weight_decay};
    for (int step = 1; step <= 4; ++step) {
      const std::vector<float> g = random_values(count, 10 + static_cast<std::uint64_t>(step));
      optimizer->apply(
          {.parameters = p, .gradients = g, .ranges = {&range, 1}, .lr = c.lr, .step = step, .gradient_scale = 0.5});
      naive.step(c, g, 0.5, step);
    }
    double worst = 0.0;
    for (std::size_t i = 0; i < count; ++i) worst = std::max(worst, std::abs(static_cast<double>(p[i]) - naive.p[i]));
    // Four float32 updates of size <= lr, each rounded to 2^-24 of a value below 2; adam divides by sqrt(v), whose
    // relative error is that of v: small again, but for gradients near 0, where epsilon takes over.
    EXPECT_LT(worst, 2e-6) << c.golden;
  }
}

TEST(Optimizer, gives_the_same_bits_with_any_team) {
  const std::size_t count = 5 * kChunkElements + 3;
  const std::vector<float> g = random_values(count, 2);
  for (const Case& c : kCases) {
    std::vector<std::vector<float>> results;
    for (const int threads : {1, 2, 3}) {
      std::vector<float> p = random_values(count, 1);
      OptimizerOptions options = c.options;
      options.threads = threads;
      const auto optimizer = make_optimizer(c.optimizer, options, static_cast<std::int64_t>(count));
      const UpdateRange range{.begin = 0, .count = static_cast<std::int64_t>(count), .weight_decay = c.weight_decay};
      optimizer->apply({.parameters = p, .gradients = g, .ranges = {&range, 1}, .lr = c.lr});
      results.push_back(p);
    }
    EXPECT_EQ(results[0], results[1]) << c.golden;
    EXPECT_EQ(results[0], results[2]) << c.golden;
  }
}

TEST(Optimizer, decays_only_the_ranges_that_ask_for_it) {
  std::vector<float> p(4, 1.0F);
  const std::vector<float> g(4, 0.0F);
  const UpdateRange ranges[] = {{.begin = 0, .count = 2, .weight_decay = 0.5}, {.begin = 2, .count = 1}};
  const auto optimizer = make_optimizer("sgd", {.momentum = 0.0}, 4);
  optimizer->apply({.parameters = p, .gradients = g, .ranges = ranges, .lr = 1.0});
  EXPECT_EQ(p, (std::vector<float>{0.5F, 0.5F, 1.0F, 1.0F}));
}

TEST(Optimizer, keeps_zero_padding_zero) {
  for (const Case& c : kCases) {
    std::vector<float> p(16), g(16);
    const UpdateRange range{.begin = 0, .count = 16, .weight_decay = 0.1};
    const auto optimizer = make_optimizer(c.optimizer, c.options, 16);
    for (int step = 1; step <= 3; ++step) {
      optimizer->apply({.parameters = p, .gradients = g, .ranges = {&range, 1}, .lr = 0.1, .step = step});
    }
    EXPECT_EQ(p, std::vector<float>(16)) << c.golden;
  }
}

TEST(Optimizer, goes_on_from_restored_state) {
  for (const Case& c : kCases) {
    const UpdateRange range{.begin = 0, .count = 100, .weight_decay = c.weight_decay};
    std::vector<float> straight = random_values(100, 3);
    std::vector<float> resumed = straight;
    const auto first = make_optimizer(c.optimizer, c.options, 100);
    const auto second = make_optimizer(c.optimizer, c.options, 100);
    const auto apply = [&](Optimizer& optimizer, std::vector<float>& p, int step) {
      const std::vector<float> g = random_values(100, static_cast<std::uint64_t>(step));
      optimizer.apply({.parameters = p, .gradients = g, .ranges = {&range, 1}, .lr = c.lr, .step = step});
    };
    for (int step = 1; step <= 2; ++step) apply(*first, straight, step);
    resumed = straight;
    const auto from = first->state();
    const auto to = second->state();
    ASSERT_EQ(from.size(), to.size());
    for (std::size_t i = 0; i < from.size(); ++i)
      std::copy(from[i].arena.begin(), from[i].arena.end(), to[i].arena.begin());
    for (int step = 3; step <= 4; ++step) apply(*first, straight, step);
    for (int step = 3; step <= 4; ++step) apply(*second, resumed, step);
    EXPECT_EQ(straight, resumed) << c.golden;
  }
}

TEST(Lars, is_the_published_update) {
  constexpr double kTrust = 0.02, kMomentum = 0.9, kDecay = 0.01, kRate = 0.5, kScale = 0.25;
  // Two layers and a bias, in one arena.
  const UpdateRange ranges[] = {{.begin = 0, .count = 30, .weight_decay = kDecay, .is_layer = true},
                                {.begin = 30, .count = 50, .weight_decay = kDecay, .is_layer = true},
                                {.begin = 80, .count = 20, .weight_decay = 0.0}};
  std::vector<float> values = random_values(100, 3);
  std::vector<double> wanted(values.begin(), values.end());
  std::vector<double> velocity(100);
  const auto lars = make_optimizer("lars", {.momentum = kMomentum, .trust = kTrust}, 100);
  EXPECT_TRUE(lars->is_layerwise());
  for (int step = 1; step <= 4; ++step) {
    const std::vector<float> gradients = random_values(100, static_cast<std::uint64_t>(10 + step));
    lars->apply({.parameters = values,
                 .gradients = gradients,
                 .ranges = ranges,
                 .lr = kRate,
                 .step = step,
                 .gradient_scale = kScale});
    for (const UpdateRange& range : ranges) {
      double weights = 0.0;
      double norm = 0.0;
      for (std::int64_t i = range.begin; i < range.begin + range.count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        weights += wanted[at] * wanted[at];
        norm += kScale * kScale * static_cast<double>(gradients[at]) * static_cast<double>(gradients[at]);
      }
      weights = std::sqrt(weights);
      norm = std::sqrt(norm);
      const double adapted = range.is_layer ? kTrust * weights / (norm + range.weight_decay * weights) : 1.0;
      for (std::int64_t i = range.begin; i < range.begin + range.count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        velocity[at] = kMomentum * velocity[at] +
                       adapted * (kScale * static_cast<double>(gradients[at]) + range.weight_decay * wanted[at]);
        wanted[at] -= kRate * velocity[at];
      }
    }
  }
  // Float32 against double over four steps of values about 1.
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], wanted[i], 2e-6) << i;
}

TEST(Lars, does_not_feel_the_scale_of_a_gradient) {
  const UpdateRange range{.begin = 0, .count = 64, .weight_decay = 0.0, .is_layer = true};
  std::vector<float> once = random_values(64, 5);
  std::vector<float> tenfold = once;
  const std::vector<float> gradients = random_values(64, 6);
  for (auto* values : {&once, &tenfold}) {
    const auto lars = make_optimizer("lars", {}, 64);
    lars->apply({.parameters = *values,
                 .gradients = gradients,
                 .ranges = {&range, 1},
                 .lr = 1.0,
                 .gradient_scale = values == &once ? 1.0 : 10.0});
  }
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(once[i], tenfold[i], 1e-6);
}

TEST(Lars, makes_a_plain_step_from_zero) {
  const UpdateRange range{.begin = 0, .count = 2, .weight_decay = 0.1, .is_layer = true};
  std::vector<float> values{0.0F, 0.0F};
  const std::vector<float> gradients{1.0F, -2.0F};
  make_optimizer("lars", {}, 2)
      ->apply({.parameters = values, .gradients = gradients, .ranges = {&range, 1}, .lr = 0.5});
  EXPECT_EQ(values, (std::vector<float>{-0.5F, 1.0F}));
}

std::string refusal(std::string_view name, const OptimizerOptions& options) {
  try {
    static_cast<void>(make_optimizer(name, options, 1));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(Optimizer, refusals_say_what_there_is) {
  EXPECT_EQ(refusal("sdg", {}),
            "[train.optimizer] name: expected an optimizer that exists, got sdg; try one of sgd, adam, adamw, lars");
  EXPECT_EQ(
      refusal("sgd", {.momentum = 1.0}),
      "[train.optimizer] momentum: expected at least 0 and below 1, got 1; try a value in that range, such as the "
      "default that roentgen train --keys shows");
}

TEST(Optimizer, refuses_an_unknown_name_and_bad_options) {
  EXPECT_THROW(static_cast<void>(make_optimizer("sdg", {}, 1)), ConfigError);
  EXPECT_THROW(static_cast<void>(make_optimizer("sgd", {.momentum = 1.0}, 1)), ConfigError);
  EXPECT_THROW(static_cast<void>(make_optimizer("sgd", {.momentum = 0.0, .is_nesterov = true}, 1)), ConfigError);
  EXPECT_THROW(static_cast<void>(make_optimizer("adam", {.beta2 = -0.1}, 1)), ConfigError);
  EXPECT_THROW(static_cast<void>(make_optimizer("lars", {.is_nesterov = true}, 1)), ConfigError);
  EXPECT_THROW(static_cast<void>(make_optimizer("lars", {.trust = 0.0}, 1)), ConfigError);
}

TEST(SumOfSquares, is_exact_in_double_and_independent_of_the_team) {
  const std::vector<float> values = random_values(4 * kChunkElements + 5, 7);
  double expected = 0.0;
  for (const float value : values) expected += static_cast<double>(value) * static_cast<double>(value);
  const double one = sum_of_squares(values, 1);
  EXPECT_NEAR(one / expected, 1.0, 1e-12);  // double sums of 65,000 terms in another order
  EXPECT_EQ(one, sum_of_squares(values, 3));
}

TEST(SumOfSquares, shows_a_nan) {
  std::vector<float> values(100, 1.0F);
  values[77] = std::nanf("");
  EXPECT_TRUE(std::isnan(sum_of_squares(values, 2)));
}

}  // namespace
}  // namespace roentgen::train
