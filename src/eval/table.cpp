// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "eval/auroc.h"
#include "eval/label_scores.h"
#include "eval/temperature.h"
#include "eval/top_k.h"

namespace roentgen::eval {
namespace {
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kTop = 5;

// Computes all values of the table for any multiplicities of the patients. A row of values has the AUROCs of K labels
// and their mean, the same for each metric, then the top-k accuracies. Immutable after construction, so thread-safe.
class Figures {
 public:
  Figures(const Predictions& predictions, const Clusters& clusters, const MetricRequest& request);

  [[nodiscard]] const std::vector<Metric>& metrics() const { return metrics_; }
  [[nodiscard]] const std::vector<std::int64_t>& tops() const { return tops_; }
  [[nodiscard]] const RankedScores& label(std::size_t i) const { return ranked_[i]; }
  [[nodiscard]] std::size_t label_count() const { return ranked_.size(); }
  [[nodiscard]] std::size_t column_count() const { return (metrics_.size() + 1) * (label_count() + 1) + tops_.size(); }
  /// Returns the column of a block and label. Block 0 is AUROC, block 1 the first metric; `label` = label_count() is
  /// the mean.
  [[nodiscard]] std::size_t column(std::size_t block, std::size_t label) const {
    return block * (label_count() + 1) + label;
  }
  [[nodiscard]] std::size_t top_column(std::size_t i) const { return column(metrics_.size() + 1, 0) + i; }
  /// Values of the full data, in which every patient counts once.
  [[nodiscard]] std::span<const double> values() const { return values_; }
  [[nodiscard]] std::string_view reason(std::size_t column) const { return reasons_[column]; }
  /// Reason why a column has too few patients for an interval; empty if it has enough.
  [[nodiscard]] std::string_view few(std::size_t column) const { return few_[column]; }

  /// Computes all columns for these multiplicities.
  void measure(std::span<const std::uint32_t> multiplicity, std::span<double> row) const {
    fill(multiplicity, row, {});
    average(row);
  }

 private:
  void choose_metrics(const MetricRequest& request);
  void find_few(const Predictions& predictions, const Clusters& clusters);
  void fill(std::span<const std::uint32_t> multiplicity, std::span<double> row,
            std::span<std::string_view> reasons) const;
  void average(std::span<double> row) const;
  [[nodiscard]] double top_accuracy(std::span<const std::uint32_t> multiplicity, std::size_t i) const;

  std::vector<RankedScores> ranked_;
  std::vector<RankedScores> scaled_;  // like ranked_, with temperature-scaled scores; may be empty
  std::vector<Metric> metrics_;
  std::vector<std::optional<double>> thresholds_;
  std::vector<std::int64_t> tops_;
  std::vector<std::vector<double>> credits_;  // (number of top-k accuracies, N)
  std::vector<std::uint32_t> clusters_;
  std::vector<double> values_;
  std::vector<std::string_view> reasons_;
  std::vector<std::string_view> few_;
};

Figures::Figures(const Predictions& predictions, const Clusters& clusters, const MetricRequest& request)
    : clusters_(clusters.index) {
  choose_metrics(request);
  const std::size_t K = predictions.label_names.size();
  for (std::size_t i = 0; i < K; ++i) ranked_.push_back(rank_label(predictions, i, clusters));
  thresholds_.resize(K);
  if (request.points) thresholds_ = thresholds_for(*request.points, predictions.label_names);
  if (request.points && request.points->temperature && are_probabilities(predictions)) {
    const Predictions scaled = scaled_by(predictions, *request.points->temperature);
    for (std::size_t i = 0; i < K; ++i) scaled_.push_back(rank_label(scaled, i, clusters));
  }
  if (predictions.outputs == Outputs::Exclusive && !metrics_.empty()) {
    tops_ =
        std::ssize(predictions.label_names) > kTop ? std::vector{std::int64_t{1}, kTop} : std::vector{std::int64_t{1}};
    for (const std::int64_t k : tops_) credits_.push_back(top_k_credits(predictions, k));
  }
  values_.assign(column_count(), kUndefined);
  reasons_.resize(column_count());
  fill(std::vector<std::uint32_t>(static_cast<std::size_t>(clusters.count), 1), values_, reasons_);
  average(values_);
  find_few(predictions, clusters);
}

void Figures::find_few(const Predictions& predictions, const Clusters& clusters) {
  few_.resize(column_count());
  for (std::size_t i = 0; i < label_count(); ++i) {
    if (!has_few_patients(predictions, i, clusters)) continue;
    for (std::size_t block = 0; block <= metrics_.size(); ++block) {
      if (block > 0 && info_of(metrics_[block - 1]).classes == MetricClasses::Pooled) continue;
      if (std::isnan(values_[column(block, i)])) continue;
      few_[column(block, i)] = kFewPatients;
      few_[column(block, label_count())] = kMeanOfFewPatients;
    }
  }
}

void Figures::choose_metrics(const MetricRequest& request) {
  for (const Metric metric : request.metrics) {
    if (request.points || info_of(metric).needs == MetricNeeds::Counts) metrics_.push_back(metric);
  }
}

void Figures::fill(std::span<const std::uint32_t> multiplicity, std::span<double> row,
                   std::span<std::string_view> reasons) const {
  const auto put = [&](std::size_t column, const Figure& figure) {
    row[column] = figure.value;
    if (!reasons.empty()) reasons[column] = figure.reason;
  };
  ScoreCounts counts;
  ScoreCounts scaled;
  for (std::size_t i = 0; i < ranked_.size(); ++i) {
    const std::optional<double> area = ranked_[i].auroc(multiplicity);
    const bool is_empty = ranked_[i].positives() + ranked_[i].negatives() == 0;
    put(column(0, i), area ? Figure{.value = *area} : undefined(is_empty ? kNoImages : kOneClass));
    if (metrics_.empty()) continue;
    ranked_[i].count(multiplicity, counts);
    if (!scaled_.empty()) scaled_[i].count(multiplicity, scaled);
    const Confusion confusion = thresholds_[i] ? confusion_at(counts, *thresholds_[i]) : Confusion{};
    const MetricInput input{.counts = counts,
                            .confusion = thresholds_[i] ? &confusion : nullptr,
                            .scaled = scaled_.empty() ? nullptr : &scaled};
    for (std::size_t m = 0; m < metrics_.size(); ++m) put(column(m + 1, i), eval::measure(metrics_[m], input));
  }
  for (std::size_t i = 0; i < tops_.size(); ++i) {
    const double accuracy = top_accuracy(multiplicity, i);
    put(top_column(i), {.value = accuracy, .reason = std::isnan(accuracy) ? kNoImages : std::string_view{}});
  }
}

// Sets the means of a row over the labels that are defined in the full data. A mean is NaN if such a label is undefined
// in the row.
void Figures::average(std::span<double> row) const {
  for (std::size_t block = 0; block <= metrics_.size(); ++block) {
    double sum = 0.0;
    int count = 0;
    for (std::size_t i = 0; i < label_count(); ++i) {
      if (std::isnan(values_[column(block, i)])) continue;
      sum += row[column(block, i)];
      ++count;
    }
    row[column(block, label_count())] = count == 0 ? kUndefined : sum / count;
  }
}

double Figures::top_accuracy(std::span<const std::uint32_t> multiplicity, std::size_t i) const {
  double sum = 0.0;
  std::int64_t n = 0;
  for (std::size_t image = 0; image < clusters_.size(); ++image) {
    const double credit = credits_[i][image];
    if (std::isnan(credit)) continue;
    sum += credit * multiplicity[clusters_[image]];
    n += multiplicity[clusters_[image]];
  }
  return n == 0 ? kUndefined : sum / static_cast<double>(n);
}

Estimate estimate_of(const Figures& figures, std::size_t column, const Replicates& replicates, double level) {
  const double value = figures.values()[column];
  if (std::isnan(value)) return {.reason = figures.reason(column).empty() ? kNoLabel : figures.reason(column)};
  return estimate_from(value, replicates, column, level, figures.few(column));
}

std::int64_t count_defined(const Figures& figures, std::size_t block) {
  const auto values = figures.values().subspan(figures.column(block, 0), figures.label_count());
  return std::ranges::count_if(values, [](double value) { return !std::isnan(value); });
}
}  // namespace

const MetricColumn* EvalTable::find(Metric metric) const {
  const auto found = std::ranges::find(metrics, metric, &MetricColumn::metric);
  return found == metrics.end() ? nullptr : &*found;
}

EvalTable evaluate(const Predictions& predictions, const BootstrapOptions& options, const MetricRequest& request) {
  check_predictions(predictions);
  check_options(options);
  const Clusters clusters = make_clusters(predictions.patients);
  const Figures figures(predictions, clusters, request);
  Replicates replicates;
  if (clusters.count > 1) {  // resamples of a single patient would all be equal
    const auto statistic = [&](std::span<const std::uint32_t> multiplicity, std::span<double> row) {
      figures.measure(multiplicity, row);
    };
    replicates = bootstrap(clusters.count, static_cast<std::int64_t>(figures.column_count()), statistic, options);
  }
  const auto estimate = [&](std::size_t column) { return estimate_of(figures, column, replicates, options.level); };

  const std::size_t K = figures.label_count();
  EvalTable table{.mean = estimate(figures.column(0, K)),
                  .labels_in_mean = count_defined(figures, 0),
                  .images = predictions.image_count(),
                  .patients = clusters.count,
                  .bootstrap = options,
                  .points = request.points};
  for (std::size_t i = 0; i < K; ++i) {
    const RankedScores& label = figures.label(i);
    table.labels.push_back({.label = predictions.label_names[i],
                            .auroc = estimate(figures.column(0, i)),
                            .positives = label.positives(),
                            .n = label.positives() + label.negatives()});
  }
  for (std::size_t m = 0; m < figures.metrics().size(); ++m) {
    MetricColumn& column = table.metrics.emplace_back();
    column.metric = figures.metrics()[m];
    for (std::size_t i = 0; i < K; ++i) column.labels.push_back(estimate(figures.column(m + 1, i)));
    column.mean = estimate(figures.column(m + 1, K));
    column.labels_in_mean = count_defined(figures, m + 1);
  }
  for (std::size_t i = 0; i < figures.tops().size(); ++i) {
    table.top.push_back({.k = figures.tops()[i], .accuracy = estimate(figures.top_column(i))});
  }
  return table;
}

}  // namespace roentgen::eval
