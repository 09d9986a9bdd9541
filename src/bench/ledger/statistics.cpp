// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "eval/student_t.h"

namespace roentgen::bench {
namespace {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Sum of squared deviations from the mean.
double squares(std::span<const double> values) {
  const double centre = mean(values);
  double sum = 0.0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum;
}

Interval around(double estimate, double error, double level, double dof) {
  const double half = error > 0.0 ? eval::student_t_width(level, dof) * error : 0.0;
  return {.estimate = estimate, .low = estimate - half, .high = estimate + half};
}

/// Returns the largest c with P(W <= c) <= tail. W is the rank sum of n pairs without a difference. Nullopt if P(W <=
/// 0) exceeds the tail.
std::optional<std::size_t> critical_rank_sum(std::size_t n, double tail) {
  std::vector<double> share(n * (n + 1) / 2 + 1, 0.0);  // P(W = w)
  share[0] = 1.0;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    for (std::size_t w = share.size(); w-- > 0;) {
      share[w] = 0.5 * (share[w] + (w >= rank ? share[w - rank] : 0.0));
    }
  }
  double sum = 0.0;
  std::size_t below = 0;  // number of rank sums whose total probability is at most the tail
  constexpr double kRounding = 1e-12;
  while (below < share.size() && sum + share[below] <= tail + kRounding) sum += share[below++];
  return below == 0 ? std::nullopt : std::optional(below - 1);
}

}  // namespace

std::optional<Interval> difference_of_means(std::span<const double> a, std::span<const double> b, double level) {
  RG_ASSERT(!a.empty() && !b.empty());
  const auto na = static_cast<double>(a.size()), nb = static_cast<double>(b.size());
  if (a.size() + b.size() <= 2) return std::nullopt;
  const double estimate = mean(b) - mean(a);
  if (a.size() == 1 || b.size() == 1) {
    const double dof = na + nb - 2.0;
    return around(estimate, std::sqrt((squares(a) + squares(b)) / dof * (1.0 / na + 1.0 / nb)), level, dof);
  }
  const double va = squares(a) / (na - 1.0) / na, vb = squares(b) / (nb - 1.0) / nb;
  if (va + vb == 0.0) return Interval{.estimate = estimate, .low = estimate, .high = estimate};
  const double dof = (va + vb) * (va + vb) / (va * va / (na - 1.0) + vb * vb / (nb - 1.0));
  return around(estimate, std::sqrt(va + vb), level, dof);
}

std::optional<Interval> mean_of_differences(std::span<const double> differences, double level) {
  if (differences.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(differences.size());
  return around(mean(differences), std::sqrt(squares(differences) / (n - 1.0) / n), level, n - 1.0);
}

std::optional<Interval> centre_of_differences(std::span<const double> differences, double level) {
  const std::size_t n = differences.size();
  constexpr std::size_t kMost = 200;
  RG_ASSERT(n <= kMost);
  const std::optional<std::size_t> critical = critical_rank_sum(n, (1.0 - level) / 2.0);
  if (n == 0 || !critical) return std::nullopt;
  std::vector<double> averages;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) averages.push_back((differences[i] + differences[j]) / 2.0);
  }
  std::ranges::sort(averages);
  const std::size_t count = averages.size();
  return Interval{.estimate = (averages[(count - 1) / 2] + averages[count / 2]) / 2.0,
                  .low = averages[*critical],
                  .high = averages[count - 1 - *critical]};
}

std::size_t least_pairs(double level) {
  RG_ASSERT(level > 0.0 && level < 1.0);
  std::size_t n = 1;
  constexpr double kRounding = 1e-12;
  while (2.0 * std::pow(0.5, static_cast<double>(n)) > 1.0 - level + kRounding) ++n;
  return n;
}

std::vector<double> block_means(std::span<const double> values) {
  constexpr std::size_t kBlocks = 10;
  if (values.size() < 2 * kBlocks) return {values.begin(), values.end()};
  const std::size_t length = values.size() / kBlocks;
  std::vector<double> means;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    means.push_back(mean(values.subspan(i * length, i + 1 == kBlocks ? values.size() - i * length : length)));
  }
  return means;
}

}  // namespace roentgen::bench
