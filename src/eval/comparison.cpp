// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "core/error.h"
#include "eval/label_scores.h"
#include "eval/student_t.h"

namespace roentgen::eval {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

void require_same(bool is_same, std::string_view what, std::string_view expected) {
  if (is_same) return;
  throw DataError(error_text("eval.comparison", what, expected, "different " + std::string(what) + " for another model",
                             "predictions on the same data set"));
}

// Computes AUROCs of every model, means over A's and over B's models, and the differences B - A, for any multiplicities
// of patients. Values are stored in blocks of K labels and the mean over labels, one block per model, mean or
// difference. Immutable after construction, so thread-safe.
class Sides {
 public:
  Sides(std::span<const Predictions> a, std::span<const Predictions> b, const Clusters& clusters) : a_count_(a.size()) {
    for (const std::span<const Predictions> side : {a, b}) {
      for (const Predictions& model : side) {
        std::vector<RankedScores>& labels = models_.emplace_back();
        for (std::size_t i = 0; i < model.label_names.size(); ++i) labels.push_back(rank_label(model, i, clusters));
      }
    }
    for (const RankedScores& label : models_.front()) {
      is_defined_.push_back(label.positives() > 0 && label.negatives() > 0);
    }
    few_.resize(label_count() + 1);
    for (std::size_t i = 0; i < label_count(); ++i) {
      if (!is_defined_[i] || !has_few_patients(a.front(), i, clusters)) continue;
      few_[i] = kFewPatients;
      few_.back() = kMeanOfFewPatients;
    }
    values_.resize(column_count());
    measure(std::vector<std::uint32_t>(static_cast<std::size_t>(clusters.count), 1), values_);
  }

  [[nodiscard]] std::size_t label_count() const { return is_defined_.size(); }
  [[nodiscard]] std::size_t model_count() const { return models_.size(); }
  [[nodiscard]] std::size_t a_count() const { return a_count_; }
  [[nodiscard]] std::size_t column_count() const { return (model_count() + 3) * (label_count() + 1); }
  /// Returns the column of a block and label. Blocks 0 ... model_count() - 1 are the models, A's before B's; `label` =
  /// label_count() is the mean.
  [[nodiscard]] std::size_t column(std::size_t block, std::size_t label) const {
    return block * (label_count() + 1) + label;
  }
  /// Block of the mean over A's models. The mean over B's models and the difference B - A follow.
  [[nodiscard]] std::size_t a_block() const { return model_count(); }
  [[nodiscard]] std::size_t b_block() const { return model_count() + 1; }
  [[nodiscard]] std::size_t delta_block() const { return model_count() + 2; }
  [[nodiscard]] double value(std::size_t column) const { return values_[column]; }
  [[nodiscard]] const RankedScores& label(std::size_t i) const { return models_.front()[i]; }
  /// Reason why a label, or the mean, has too few patients for an interval; empty if it has enough.
  [[nodiscard]] std::string_view few(std::size_t label) const { return few_[label]; }
  [[nodiscard]] std::int64_t defined_count() const { return std::ranges::count(is_defined_, true); }

  void measure(std::span<const std::uint32_t> multiplicity, std::span<double> row) const {
    const std::size_t K = label_count();
    for (std::size_t model = 0; model < model_count(); ++model) {
      for (std::size_t i = 0; i < K; ++i) {
        row[column(model, i)] = models_[model][i].auroc(multiplicity).value_or(kUndefined);
      }
      row[column(model, K)] = mean(row.subspan(column(model, 0), K));
    }
    const auto over_models = [&](std::size_t begin, std::size_t end, std::size_t label) {
      double sum = 0.0;
      for (std::size_t model = begin; model < end; ++model) sum += row[column(model, label)];
      return sum / static_cast<double>(end - begin);
    };
    for (std::size_t i = 0; i <= K; ++i) {
      row[column(a_block(), i)] = over_models(0, a_count_, i);
      row[column(b_block(), i)] = over_models(a_count_, model_count(), i);
      row[column(delta_block(), i)] = row[column(b_block(), i)] - row[column(a_block(), i)];
    }
  }

 private:
  // Returns the mean over the labels that are defined in the full data; NaN if `values` is NaN for such a label.
  [[nodiscard]] double mean(std::span<const double> values) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += is_defined_[i] ? values[i] : 0.0;
    const std::int64_t count = defined_count();
    return count == 0 ? kUndefined : sum / static_cast<double>(count);
  }

  std::size_t a_count_;
  /// (models, K) ranked scores.
  std::vector<std::vector<RankedScores>> models_;
  std::vector<bool> is_defined_;
  /// (K + 1) results of few(): one per label, then the mean.
  std::vector<std::string_view> few_;
  std::vector<double> values_;
};

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Sample covariance (n - 1) of two or more pairs.
double covariance(std::span<const double> x, std::span<const double> y) {
  const double mean_x = mean_of(x), mean_y = mean_of(y);
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - mean_x) * (y[i] - mean_y);
  return sum / static_cast<double>(x.size() - 1);
}

// Variances of A, of B and of their difference for one label, estimated from seeds and resamples. The formulas are in
// comparison.h.
class SeedVariance {
 public:
  // Takes each model's AUROC on the full data, A's models first, and each model's AUROCs in all resamples.
  SeedVariance(std::span<const double> values, const std::vector<std::vector<double>>& resamples, std::size_t a_count) {
    const auto a = values.first(a_count), b = values.subspan(a_count);
    seeds_a_ = covariance(a, a);
    seeds_b_ = covariance(b, b);
    n_a_ = static_cast<double>(a.size());
    n_b_ = static_cast<double>(b.size());
    double aa = 0.0, bb = 0.0, ab = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t j = i + 1; j < values.size(); ++j) {
        (j < a_count ? aa : i >= a_count ? bb : ab) += covariance(resamples[i], resamples[j]);
      }
    }
    shared_a_ = aa / (n_a_ * (n_a_ - 1.0) / 2.0);
    shared_b_ = bb / (n_b_ * (n_b_ - 1.0) / 2.0);
    shared_ab_ = ab / (n_a_ * n_b_);
  }

  struct Spread {
    double variance = 0.0;
    double dof = 0.0;
  };
  [[nodiscard]] Spread of_a() const {
    return spread(seeds_a_ / n_a_, shared_a_, square(seeds_a_ / n_a_) / (n_a_ - 1.0));
  }
  [[nodiscard]] Spread of_b() const {
    return spread(seeds_b_ / n_b_, shared_b_, square(seeds_b_ / n_b_) / (n_b_ - 1.0));
  }
  [[nodiscard]] Spread of_difference() const {
    const double a = seeds_a_ / n_a_, b = seeds_b_ / n_b_;
    return spread(a + b, shared_a_ + shared_b_ - 2.0 * shared_ab_, square(a) / (n_a_ - 1.0) + square(b) / (n_b_ - 1.0));
  }

 private:
  static double square(double x) { return x * x; }
  static Spread spread(double seeds, double shared, double uncertainty) {
    const double variance = seeds + std::max(shared, 0.0);
    return {.variance = variance,
            .dof = uncertainty > 0.0 ? square(variance) / uncertainty : std::numeric_limits<double>::infinity()};
  }

  double seeds_a_ = 0.0, seeds_b_ = 0.0;
  double n_a_ = 0.0, n_b_ = 0.0;
  double shared_a_ = 0.0, shared_b_ = 0.0, shared_ab_ = 0.0;
};

// Makes the result row of one label, or of the mean over labels.
class RowMaker {
 public:
  RowMaker(const Sides& sides, const Replicates& replicates, const BootstrapOptions& options)
      : sides_(sides), replicates_(replicates), options_(options) {}

  [[nodiscard]] Difference row(std::size_t label) const {
    Difference row{.a = estimate(sides_.a_block(), label),
                   .b = estimate(sides_.b_block(), label),
                   .delta = estimate(sides_.delta_block(), label)};
    if (row.delta.interval) row.p = bootstrap_p(resamples(sides_.delta_block(), label));
    const std::size_t n_a = sides_.a_count(), n_b = sides_.model_count() - n_a;
    if (row.delta.value && n_a > 1) row.sd_a = seed_sd(0, n_a, label);
    if (row.delta.value && n_b > 1) row.sd_b = seed_sd(n_a, n_b, label);
    if (row.delta.interval && n_a > 1 && n_b > 1) cover_seeds(label, row);
    return row;
  }

 private:
  [[nodiscard]] std::vector<double> resamples(std::size_t block, std::size_t label) const {
    if (replicates_.columns == 0) return {};
    return replicates_.defined(static_cast<std::int64_t>(sides_.column(block, label)));
  }

  [[nodiscard]] Estimate estimate(std::size_t block, std::size_t label) const {
    const double value = sides_.value(sides_.column(block, label));
    if (std::isnan(value)) return {.reason = label == sides_.label_count() ? kNoLabel : kOneClass};
    return estimate_from(value, replicates_, sides_.column(block, label), options_.level, sides_.few(label));
  }

  [[nodiscard]] std::vector<double> by_model(std::size_t begin, std::size_t count, std::size_t label) const {
    std::vector<double> values;
    for (std::size_t model = begin; model < begin + count; ++model) {
      values.push_back(sides_.value(sides_.column(model, label)));
    }
    return values;
  }

  [[nodiscard]] double seed_sd(std::size_t begin, std::size_t count, std::size_t label) const {
    const std::vector<double> values = by_model(begin, count, label);
    return std::sqrt(covariance(values, values));
  }

  // All models have the same true labels, so an AUROC is defined in a resample either for all models or for none.
  void cover_seeds(std::size_t label, Difference& row) const {
    std::vector<std::vector<double>> drawn;
    for (std::size_t model = 0; model < sides_.model_count(); ++model) drawn.push_back(resamples(model, label));
    const SeedVariance variance(by_model(0, sides_.model_count(), label), drawn, sides_.a_count());
    const auto widen = [&](Estimate& estimate, const SeedVariance::Spread& spread) {
      const double half = std::sqrt(spread.variance) * student_t_width(options_.level, spread.dof);
      estimate.interval = Interval{.low = *estimate.value - half, .high = *estimate.value + half};
    };
    widen(row.a, variance.of_a());
    widen(row.b, variance.of_b());
    const SeedVariance::Spread spread = variance.of_difference();
    widen(row.delta, spread);
    row.dof = spread.dof;
    row.p = *row.delta.value == 0.0 ? 1.0 : student_t_p(*row.delta.value / std::sqrt(spread.variance), spread.dof);
  }

  const Sides& sides_;
  const Replicates& replicates_;
  const BootstrapOptions& options_;
};

void check_same(const Predictions& first, const Predictions& other) {
  require_same(first.label_names == other.label_names, "labels", "the labels of the first model, in the same order");
  require_same(first.image_ids == other.image_ids, "images", "the images of the first model, in the same order");
  require_same(first.labels == other.labels, "true labels", "the true labels of the first model");
  require_same(first.patients == other.patients, "patients", "the patients of the first model");
}

}  // namespace

std::optional<double> bootstrap_p(const std::vector<double>& differences) {
  if (differences.size() < 2) return std::nullopt;
  const auto below = std::ranges::count_if(differences, [](double d) { return d <= 0.0; });
  const auto above = std::ranges::count_if(differences, [](double d) { return d >= 0.0; });
  const auto rarer = static_cast<double>(std::min(below, above));
  return std::min(1.0, 2.0 * (1.0 + rarer) / (static_cast<double>(differences.size()) + 1.0));
}

Comparison compare(std::span<const Predictions> a, std::span<const Predictions> b, const BootstrapOptions& options) {
  RG_ASSERT(!a.empty() && !b.empty());
  check_options(options);
  for (const std::span<const Predictions> side : {a, b}) {
    for (const Predictions& model : side) {
      check_predictions(model);
      check_same(a.front(), model);
    }
  }
  const Clusters clusters = make_clusters(a.front().patients);
  const Sides sides(a, b, clusters);
  Replicates replicates;
  if (clusters.count > 1) {  // resamples of a single patient would all be equal
    const auto statistic = [&](std::span<const std::uint32_t> multiplicity, std::span<double> row) {
      sides.measure(multiplicity, row);
    };
    replicates = bootstrap(clusters.count, static_cast<std::int64_t>(sides.column_count()), statistic, options);
  }
  const RowMaker rows(sides, replicates, options);
  Comparison comparison{.labels = {},
                        .mean = rows.row(sides.label_count()),
                        .labels_in_mean = sides.defined_count(),
                        .images = a.front().image_count(),
                        .patients = clusters.count,
                        .bootstrap = options,
                        .seeds_a = std::ssize(a),
                        .seeds_b = std::ssize(b)};
  comparison.mean.label = "mean";
  for (std::size_t i = 0; i < sides.label_count(); ++i) {
    Difference& row = comparison.labels.emplace_back(rows.row(i));
    row.label = a.front().label_names[i];
    row.positives = sides.label(i).positives();
    row.n = sides.label(i).positives() + sides.label(i).negatives();
  }
  return comparison;
}

Comparison compare(const Predictions& a, const Predictions& b, const BootstrapOptions& options) {
  return compare(std::span(&a, 1), std::span(&b, 1), options);
}

}  // namespace roentgen::eval
