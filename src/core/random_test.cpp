// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

namespace roentgen {
namespace {
constexpr std::uint64_t kSeed = 20'240'601;

/// Chi-squared statistic of counts whose expected values are equal.
double chi_squared(const std::vector<std::int64_t>& counts) {
  double total = 0.0;
  for (const std::int64_t count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0.0;
  for (const std::int64_t count : counts) {
    const double gap = static_cast<double>(count) - expected;
    sum += gap * gap / expected;
  }
  return sum;
}

using Block = std::array<std::uint32_t, 4>;

// Expected values come from kat_vectors of the authors' Random123 library.
TEST(Philox, gives_the_published_answers) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, keeps_the_bits_that_data_sets_are_drawn_from) {
  Random words(42, RandomStage::SynthPixels, 7, 3);
  for (const std::uint32_t expected : {0x7bcdb246U, 0x3acd5dcdU, 0xcdcec42fU, 0x70fcc64cU, 0x2b92759cU})
    EXPECT_EQ(words.next_u32(), expected);
  Random normals(42, RandomStage::SynthPixels, 7, 3);
  EXPECT_EQ(normals.normal(), 0x1.8760568947913p-2);
  EXPECT_EQ(normals.normal(), -0x1.1594625410a36p+0);
  Random mixed(42, RandomStage::Test);
  EXPECT_EQ(mixed.next_u64(), 0x0449400bdb5c5a22U);
  EXPECT_EQ(mixed.uniform(), 0x1.7dc22e6f8d49ep-1);
  EXPECT_EQ(mixed.below(1000), 321U);
}

TEST(Random, equal_keys_give_equal_streams) {
  Random first(RandomKey{.seed = kSeed, .epoch = 2, .sample = 3, .stage = 4});
  Random second(RandomKey{.seed = kSeed, .epoch = 2, .sample = 3, .stage = 4});
  for (int i = 0; i < 100; ++i) ASSERT_EQ(first.next_u32(), second.next_u32());
}

TEST(Random, every_part_of_the_key_changes_the_stream) {
  const RandomKey base{.seed = kSeed, .epoch = 0, .sample = 0, .stage = 1};
  std::vector<RandomKey> keys{base};
  for (const std::uint32_t one : {1U, 0x80000000U}) {
    keys.push_back({base.seed + one, base.epoch, base.sample, base.stage});
    keys.push_back({base.seed, base.epoch + one, base.sample, base.stage});
    keys.push_back({base.seed, base.epoch, base.sample + one, base.stage});
    keys.push_back({base.seed, base.epoch, base.sample, base.stage + one});
  }
  keys.push_back({base.seed + (std::uint64_t{1} << 32), base.epoch, base.sample, base.stage});
  keys.push_back({base.seed, base.epoch, base.sample + (std::uint64_t{1} << 32), base.stage});
  std::set<std::uint64_t> first_words;
  for (const RandomKey& key : keys) EXPECT_TRUE(first_words.insert(Random(key).next_u64()).second);
}

// Two of 100,000 random 64-bit words are equal with probability 3e-10. A short cycle or a repeated block would make
// words equal.
TEST(Random, neighbouring_samples_share_no_words) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t sample = 0; sample < 1000; ++sample) {
    Random random(kSeed, RandomStage::Test, sample);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(seen.insert(random.next_u64()).second) << "sample " << sample;
  }
}

// Chi-squared with 255 degrees of freedom has mean 255 and standard deviation 22.6. One in 10^6 seeds exceeds 375, and
// one in 10^6 lies below 165.
TEST(Random, every_byte_of_a_word_is_uniform) {
  Random random(kSeed, RandomStage::Test);
  std::array<std::vector<std::int64_t>, 4> counts;
  for (auto& histogram : counts) histogram.assign(256, 0);
  for (int i = 0; i < 256 * 2048; ++i) {
    const std::uint32_t word = random.next_u32();
    for (std::size_t byte = 0; byte < 4; ++byte) ++counts[byte][word >> (8 * byte) & 0xff];
  }
  for (const auto& histogram : counts) {
    EXPECT_LT(chi_squared(histogram), 375.0) << "seed " << kSeed;
    EXPECT_GT(chi_squared(histogram), 165.0) << "seed " << kSeed;
  }
}

TEST(Random, uniform_stays_in_its_range_and_fills_it) {
  Random random(kSeed, RandomStage::Test);
  std::vector<std::int64_t> counts(100, 0);
  for (int i = 0; i < 200'000; ++i) {
    const double value = random.uniform(-2.0, 3.0);
    ASSERT_GE(value, -2.0);
    ASSERT_LT(value, 3.0);
    ++counts[static_cast<std::size_t>((value + 2.0) * 20.0)];
  }
  EXPECT_LT(chi_squared(counts), 180.0) << "99 degrees of freedom, one seed in 10^6; seed " << kSeed;
}

TEST(Random, chance_comes_true_as_often_as_it_says) {
  Random random(kSeed, RandomStage::Test);
  constexpr int kDraws = 100'000;
  int hits = 0;
  for (int i = 0; i < kDraws; ++i) hits += random.chance(0.3) ? 1 : 0;
  EXPECT_NEAR(hits, 30'000, 5 * 145) << "5 standard deviations; seed " << kSeed;
  EXPECT_FALSE(random.chance(0.0));
  EXPECT_TRUE(random.chance(1.0));
}

TEST(RandomBelow, is_uniform_for_a_small_bound) {
  Random random(kSeed, RandomStage::Test);
  std::vector<std::int64_t> counts(7, 0);
  for (int i = 0; i < 70'000; ++i) ++counts.at(random.below(7));
  EXPECT_LT(chi_squared(counts), 38.0) << "6 degrees of freedom, one seed in 10^6; seed " << kSeed;
}

// The bound 3 x 2^62 makes the bias as large as possible. Half of all words have a remainder below 2^62. Without
// rejection, Lemire's product is a multiple of 3 half of the time; an unbiased draw gives one third.
TEST(RandomBelow, is_unbiased_for_the_worst_bound) {
  constexpr std::uint64_t kBound = 3ULL << 62;
  Random random(kSeed, RandomStage::Test);
  constexpr int kDraws = 90'000;
  int low = 0;
  int multiples = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t value = random.below(kBound);
    ASSERT_LT(value, kBound);
    low += value < (1ULL << 62) ? 1 : 0;
    multiples += value % 3 == 0 ? 1 : 0;
  }
  EXPECT_NEAR(low, 30'000, 5 * 142) << "5 standard deviations; seed " << kSeed;
  EXPECT_NEAR(multiples, 30'000, 5 * 142) << "5 standard deviations; seed " << kSeed;
}

TEST(RandomBelow, one_leaves_only_zero_and_zero_is_a_bug) {
  Random random(kSeed, RandomStage::Test);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(random.below(1), 0U);
  EXPECT_THROW(static_cast<void>(random.below(0)), std::logic_error);
}

// Bounds are 5 standard deviations of the k-th moment of n draws: sqrt((E x^2k - (E x^k)^2) / n).
TEST(RandomNormal, has_the_moments_of_a_standard_normal) {
  Random random(kSeed, RandomStage::Test);
  constexpr int kDraws = 400'000;
  std::array<double, 5> sums{};
  double product = 0.0;
  double previous = 0.0;
  int beyond_3 = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    double power = 1.0;
    for (double& sum : sums) {
      sum += power;
      power *= x;
    }
    product += x * previous;
    previous = x;
    beyond_3 += std::abs(x) > 3.0 ? 1 : 0;
  }
  const double n = kDraws;
  EXPECT_NEAR(sums[1] / n, 0.0, 5 * std::sqrt(1.0 / n));
  EXPECT_NEAR(sums[2] / n, 1.0, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(sums[3] / n, 0.0, 5 * std::sqrt(15.0 / n));
  EXPECT_NEAR(sums[4] / n, 3.0, 5 * std::sqrt(96.0 / n));
  EXPECT_NEAR(product / n, 0.0, 5 * std::sqrt(1.0 / n)) << "neighbours are uncorrelated";
  EXPECT_NEAR(beyond_3, 0.0026998 * n, 5 * std::sqrt(0.0026998 * n));
}
}  // namespace
}  // namespace roentgen
