// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/auroc.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"

namespace roentgen::eval {
namespace {
constexpr std::uint32_t kPositive = 1;
constexpr std::uint32_t kLastOfTie = 2;
constexpr int kUnitShift = 2;
constexpr std::int64_t kMaxUnits = std::int64_t{1} << 30;
constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 31;

void require_length(const char* what, std::size_t expected, std::size_t got) {
  if (expected == got) return;
  throw DataError(
      error_text("eval.auroc", what, std::to_string(expected) + " values, one per score", std::to_string(got)));
}

void require_sample(std::size_t i, float score, std::uint8_t label) {
  const std::string where = "sample " + std::to_string(i);
  if (!std::isfinite(score)) {
    throw DataError(error_text("eval.auroc", where, "a finite score", std::to_string(score)));
  }
  if (label > 1) {
    throw DataError(error_text("eval.auroc", where, "label 0 or 1", std::to_string(static_cast<int>(label))));
  }
}

// Computes the area from groups of equal scores, ascending, in integers. Each of the p positives in a group ranks above
// all `below` negatives in lower groups. It ties with the n negatives of its own group, and ties count half. So twice
// the number of won pairs is the sum of p * (2 below + n).
template <typename CountOf>
std::optional<double> area(std::span<const std::uint32_t> entries, CountOf count_of) {
  std::uint64_t twice_won = 0;
  std::uint64_t below = 0;      // negatives in lower groups
  std::uint64_t positives = 0;  // positives in lower groups
  std::uint64_t group_positives = 0;
  std::uint64_t group_all = 0;
  for (const std::uint32_t entry : entries) {
    const std::uint64_t count = count_of(entry >> kUnitShift);
    group_all += count;
    group_positives += count * (entry & kPositive);
    if ((entry & kLastOfTie) != 0) {
      const std::uint64_t group_negatives = group_all - group_positives;
      twice_won += group_positives * (2 * below + group_negatives);
      below += group_negatives;
      positives += group_positives;
      group_positives = group_all = 0;
    }
  }
  RG_ASSERT(below < kMaxCount && positives < kMaxCount);
  if (below == 0 || positives == 0) return std::nullopt;
  return static_cast<double>(twice_won) / (2.0 * static_cast<double>(positives) * static_cast<double>(below));
}

template <typename CountOf>
void tally(std::span<const std::uint32_t> entries, ScoreCounts& counts, CountOf count_of) {
  counts.positives.resize(counts.scores.size());
  counts.negatives.resize(counts.scores.size());
  counts.all_positives = counts.all_negatives = 0;
  std::size_t group = 0;
  std::uint32_t positives = 0;
  std::uint32_t all = 0;
  for (const std::uint32_t entry : entries) {
    const std::uint32_t count = count_of(entry >> kUnitShift);
    all += count;
    positives += count * (entry & kPositive);
    if ((entry & kLastOfTie) == 0) continue;
    counts.positives[group] = positives;
    counts.negatives[group] = all - positives;
    counts.all_positives += positives;
    counts.all_negatives += all - positives;
    ++group;
    positives = all = 0;
  }
}
}  // namespace

RankedScores::RankedScores(std::span<const float> scores, std::span<const std::uint8_t> labels,
                           std::span<const std::uint32_t> units) {
  require_length("labels", scores.size(), labels.size());
  if (!units.empty()) require_length("units", scores.size(), units.size());
  RG_ASSERT(std::ssize(scores) < kMaxUnits);

  std::vector<std::pair<float, std::uint32_t>> sorted(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    require_sample(i, scores[i], labels[i]);
    const auto unit = units.empty() ? static_cast<std::uint32_t>(i) : units[i];
    RG_ASSERT(unit < kMaxUnits);
    sorted[i] = {scores[i], unit << kUnitShift | labels[i]};
    units_ = std::max(units_, std::size_t{unit} + 1);
    positives_ += labels[i];
  }
  std::ranges::sort(sorted);
  entries_.resize(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool is_last = i + 1 == sorted.size() || sorted[i + 1].first != sorted[i].first;
    entries_[i] = sorted[i].second | (is_last ? kLastOfTie : 0U);
    if (is_last) scores_.push_back(sorted[i].first);
  }
}

std::optional<double> RankedScores::auroc() const {
  return area(entries_, [](std::uint32_t) { return std::uint64_t{1}; });
}

std::optional<double> RankedScores::auroc(std::span<const std::uint32_t> multiplicity) const {
  RG_ASSERT(multiplicity.size() >= units_);
  return area(entries_, [multiplicity](std::uint32_t unit) { return std::uint64_t{multiplicity[unit]}; });
}

ScoreCounts RankedScores::count() const {
  ScoreCounts counts{.scores = scores_};
  tally(entries_, counts, [](std::uint32_t) { return std::uint32_t{1}; });
  return counts;
}

void RankedScores::count(std::span<const std::uint32_t> multiplicity, ScoreCounts& counts) const {
  RG_ASSERT(multiplicity.size() >= units_);
  counts.scores = scores_;
  tally(entries_, counts, [multiplicity](std::uint32_t unit) { return multiplicity[unit]; });
}

std::optional<double> auroc(std::span<const float> scores, std::span<const std::uint8_t> labels) {
  return RankedScores(scores, labels).auroc();
}

}  // namespace roentgen::eval
