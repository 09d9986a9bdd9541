// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/auroc.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "core/error.h"
#include "core/random.h"

namespace roentgen::eval {
namespace {

// Tolerance: our AUROC is a ratio of integers below 2^53, rounded once; scikit-learn sums trapezoids in double.
constexpr double kGoldenTolerance = 1e-12;

struct GoldenCase {
  std::string name;
  double auroc = 0.0;
  double weighted = 0.0;
  std::vector<float> scores;
  std::vector<std::uint8_t> labels;
  std::vector<std::uint32_t> weights;
};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

std::vector<GoldenCase> read_golden() {
  const char* root = std::getenv("ROENTGEN_SOURCE_DIR");
  std::ifstream file(std::filesystem::path(root != nullptr ? root : ".") / "tests/golden/auroc.csv");
  std::vector<GoldenCase> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = split(line);
    if (fields.at(0) == "case") {
      GoldenCase& opened = cases.emplace_back();
      opened.name = fields.at(1);
      opened.auroc = std::stod(fields.at(3));
      opened.weighted = std::stod(fields.at(4));
      continue;
    }
    cases.back().scores.push_back(std::strtof(fields.at(0).c_str(), nullptr));
    cases.back().labels.push_back(static_cast<std::uint8_t>(std::stoi(fields.at(1))));
    cases.back().weights.push_back(static_cast<std::uint32_t>(std::stoul(fields.at(2))));
  }
  return cases;
}

TEST(Auroc, agrees_with_scikit_learn) {
  const std::vector<GoldenCase> cases = read_golden();
  ASSERT_EQ(cases.size(), 7U);
  for (const GoldenCase& golden : cases) {
    const std::optional<double> ours = auroc(golden.scores, golden.labels);
    ASSERT_TRUE(ours.has_value()) << golden.name;
    EXPECT_NEAR(*ours, golden.auroc, kGoldenTolerance) << golden.name;
  }
}

TEST(Auroc, agrees_with_scikit_learn_under_sample_weights) {
  for (const GoldenCase& golden : read_golden()) {
    const std::optional<double> ours = RankedScores(golden.scores, golden.labels).auroc(golden.weights);
    ASSERT_TRUE(ours.has_value()) << golden.name;
    EXPECT_NEAR(*ours, golden.weighted, kGoldenTolerance) << golden.name;
  }
}

TEST(Auroc, is_one_half_when_all_scores_are_equal) {
  EXPECT_EQ(auroc(std::vector<float>(4, 0.25F), std::vector<std::uint8_t>{0, 1, 1, 0}), 0.5);
}

TEST(Auroc, is_one_when_every_positive_scores_higher_and_zero_when_lower) {
  const std::vector<float> scores{0.1F, 0.2F, 0.8F, 0.9F};
  EXPECT_EQ(auroc(scores, std::vector<std::uint8_t>{0, 0, 1, 1}), 1.0);
  EXPECT_EQ(auroc(scores, std::vector<std::uint8_t>{1, 1, 0, 0}), 0.0);
}

TEST(Auroc, takes_negative_zero_and_zero_as_equal) {
  EXPECT_EQ(auroc(std::vector<float>{-0.0F, 0.0F}, std::vector<std::uint8_t>{0, 1}), 0.5);
}

TEST(Auroc, is_undefined_with_one_class_and_with_no_samples) {
  const std::vector<float> scores{0.1F, 0.2F};
  EXPECT_EQ(auroc(scores, std::vector<std::uint8_t>{0, 0}), std::nullopt);
  EXPECT_EQ(auroc(scores, std::vector<std::uint8_t>{1, 1}), std::nullopt);
  EXPECT_EQ(auroc({}, {}), std::nullopt);
}

TEST(Auroc, is_undefined_when_multiplicities_leave_one_class) {
  const RankedScores ranked(std::vector<float>{0.1F, 0.2F, 0.3F}, std::vector<std::uint8_t>{0, 1, 0});
  EXPECT_EQ(ranked.auroc(std::vector<std::uint32_t>{2, 0, 1}), std::nullopt);
  EXPECT_EQ(ranked.auroc(std::vector<std::uint32_t>{0, 0, 0}), std::nullopt);
  EXPECT_EQ(ranked.auroc(std::vector<std::uint32_t>{1, 1, 0}), 1.0);
}

TEST(Auroc, of_permuted_labels_is_near_one_half) {
  constexpr std::uint64_t kSeed = 7;
  constexpr int kSamples = 20000;
  // Tolerance: five standard deviations. For random scores, the AUROC has sd sqrt((n + 1) / (12 p q)) with p = q = n /
  // 2: 0.0041.
  constexpr double kTolerance = 0.0205;
  Random random(kSeed, RandomStage::Test);
  std::vector<float> scores;
  std::vector<std::uint8_t> labels;
  for (int i = 0; i < kSamples; ++i) {
    scores.push_back(static_cast<float>(random.uniform()));
    labels.push_back(random.chance(0.5) ? 1 : 0);
  }
  EXPECT_NEAR(auroc(scores, labels).value(), 0.5, kTolerance) << "seed " << kSeed;
}

TEST(Auroc, counts_whole_units_when_units_are_given) {
  const std::vector<float> scores{0.1F, 0.4F, 0.35F, 0.8F};
  const std::vector<std::uint8_t> labels{0, 0, 1, 1};
  const std::vector<std::uint32_t> units{0, 1, 0, 1};
  const RankedScores by_unit(scores, labels, units);
  const RankedScores by_sample(scores, labels);
  EXPECT_EQ(by_unit.auroc(std::vector<std::uint32_t>{3, 2}), by_sample.auroc(std::vector<std::uint32_t>{3, 2, 3, 2}));
  EXPECT_EQ(by_unit.positives(), 2);
  EXPECT_EQ(by_unit.negatives(), 2);
}

TEST(Auroc, refuses_scores_that_are_not_finite_and_names_the_sample) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    try {
      static_cast<void>(auroc(std::vector<float>{0.5F, bad}, std::vector<std::uint8_t>{0, 1}));
      FAIL() << "accepted " << bad;
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("[eval.auroc] sample 1: expected a finite score"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Auroc, refuses_other_labels_and_lengths_that_differ) {
  const std::vector<float> scores{0.5F, 0.6F};
  EXPECT_THROW(static_cast<void>(auroc(scores, std::vector<std::uint8_t>{0, 2})), DataError);
  EXPECT_THROW(static_cast<void>(auroc(scores, std::vector<std::uint8_t>{0})), DataError);
  EXPECT_THROW(RankedScores(scores, std::vector<std::uint8_t>{0, 1}, std::vector<std::uint32_t>{0}), DataError);
}

}  // namespace
}  // namespace roentgen::eval
