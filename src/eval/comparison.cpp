// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "core/error.h"
#include "eval/label_scores.h"

namespace roentgen::eval {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

void require_same(bool is_same, std::string_view what, std::string_view expected) {
  if (is_same) return;
  throw DataError(error_text("eval.comparison", what, expected, "others in the second", "predictions on one data set"));
}

// AUROCs of A, of B and their differences under any multiplicities: three blocks of K labels and their mean. Immutable
// after construction, so thread-safe.
class Pair {
 public:
  Pair(const Predictions& a, const Predictions& b, const Clusters& clusters) {
    for (std::size_t i = 0; i < a.label_names.size(); ++i) {
      a_.push_back(rank_label(a, i, clusters));
      b_.push_back(rank_label(b, i, clusters));
    }
    for (const RankedScores& label : a_) {
      is_defined_.push_back(label.positives() > 0 && label.negatives() > 0);
    }
    values_.resize(column_count());
    measure(std::vector<std::uint32_t>(static_cast<std::size_t>(clusters.count), 1), values_);
  }

  [[nodiscard]] std::size_t label_count() const { return a_.size(); }
  [[nodiscard]] std::size_t column_count() const { return 3 * (label_count() + 1); }
  /// Block 0: A, 1: B, 2: B - A; label = label_count() is the mean.
  [[nodiscard]] std::size_t column(std::size_t block, std::size_t label) const {
    return block * (label_count() + 1) + label;
  }
  [[nodiscard]] double value(std::size_t column) const { return values_[column]; }
  [[nodiscard]] const RankedScores& label(std::size_t i) const { return a_[i]; }
  [[nodiscard]] std::int64_t defined_count() const { return std::ranges::count(is_defined_, true); }

  void measure(std::span<const std::uint32_t> multiplicity, std::span<double> row) const {
    const std::size_t K = label_count();
    for (std::size_t i = 0; i < K; ++i) {
      row[column(0, i)] = a_[i].auroc(multiplicity).value_or(kUndefined);
      row[column(1, i)] = b_[i].auroc(multiplicity).value_or(kUndefined);
    }
    for (const std::size_t block : {0, 1}) row[column(block, K)] = mean(row.subspan(column(block, 0), K));
    for (std::size_t i = 0; i <= K; ++i) row[column(2, i)] = row[column(1, i)] - row[column(0, i)];
  }

 private:
  // Of the labels that are defined with every patient counted once; NaN as soon as one of them is.
  [[nodiscard]] double mean(std::span<const double> values) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += is_defined_[i] ? values[i] : 0.0;
    const std::int64_t count = defined_count();
    return count == 0 ? kUndefined : sum / static_cast<double>(count);
  }

  std::vector<RankedScores> a_;
  std::vector<RankedScores> b_;
  std::vector<bool> is_defined_;
  std::vector<double> values_;
};

}  // namespace

std::optional<double> bootstrap_p(const std::vector<double>& differences) {
  if (differences.size() < 2) return std::nullopt;
  const auto below = std::ranges::count_if(differences, [](double d) { return d <= 0.0; });
  const auto above = std::ranges::count_if(differences, [](double d) { return d >= 0.0; });
  const auto rarer = static_cast<double>(std::min(below, above));
  return std::min(1.0, 2.0 * (1.0 + rarer) / (static_cast<double>(differences.size()) + 1.0));
}

Comparison compare(const Predictions& a, const Predictions& b, const BootstrapOptions& options) {
  check_predictions(a);
  check_predictions(b);
  check_options(options);
  require_same(a.label_names == b.label_names, "labels", "those of the first, in its order");
  require_same(a.image_ids == b.image_ids, "images", "those of the first, in its order");
  require_same(a.labels == b.labels, "truth", "that of the first");
  require_same(a.patients == b.patients, "patients", "those of the first");
  const Clusters clusters = make_clusters(a.patients);
  const Pair pair(a, b, clusters);
  Replicates replicates;
  if (clusters.count > 1) {  // one patient says nothing about others
    const auto statistic = [&](std::span<const std::uint32_t> multiplicity, std::span<double> row) {
      pair.measure(multiplicity, row);
    };
    replicates = bootstrap(clusters.count, static_cast<std::int64_t>(pair.column_count()), statistic, options);
  }
  const std::size_t K = pair.label_count();
  const auto estimate = [&](std::size_t column, std::vector<double> values) {
    if (std::isnan(pair.value(column))) return Estimate{.reason = column % (K + 1) == K ? kNoLabel : kOneClass};
    Estimate result{.value = pair.value(column)};
    if (replicates.columns == 0) return result;
    result.replicates_left_out = options.replicates - std::ssize(values);
    result.interval = percentile_interval(std::move(values), options.level);
    return result;
  };
  const auto difference = [&](std::size_t label) {
    Difference result;
    const auto values = [&](std::size_t block) {
      return replicates.columns == 0 ? std::vector<double>{}
                                     : replicates.defined(static_cast<std::int64_t>(pair.column(block, label)));
    };
    result.a = estimate(pair.column(0, label), values(0));
    result.b = estimate(pair.column(1, label), values(1));
    result.delta = estimate(pair.column(2, label), values(2));
    if (result.delta.interval) result.p = bootstrap_p(values(2));
    return result;
  };
  Comparison comparison{.labels = {},
                        .mean = difference(K),
                        .labels_in_mean = pair.defined_count(),
                        .images = a.image_count(),
                        .patients = clusters.count,
                        .bootstrap = options};
  comparison.mean.label = "mean";
  for (std::size_t i = 0; i < K; ++i) {
    Difference& row = comparison.labels.emplace_back(difference(i));
    row.label = a.label_names[i];
    row.positives = pair.label(i).positives();
    row.n = pair.label(i).positives() + pair.label(i).negatives();
  }
  return comparison;
}

}  // namespace roentgen::eval
