// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/confusion.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/error.h"

namespace roentgen::eval {
namespace {
// Tolerance for equal ratios: far above the rounding error of one ratio and far below the distance of two ratios.
constexpr double kEqual = 1e-12;

Figure ratio(std::int64_t part, std::int64_t whole, std::string_view reason) {
  if (whole == 0) return undefined(reason);
  return {.value = static_cast<double>(part) / static_cast<double>(whole)};
}

std::string_view absent_class(const Confusion& confusion) {
  const bool has_images =
      confusion.true_positives + confusion.false_positives + confusion.false_negatives + confusion.true_negatives > 0;
  return has_images ? kOneClass : kNoImages;
}

// Returns the smallest integer `part` with part / whole >= level.
std::int64_t least_part(double level, std::int64_t whole) {
  const auto count = static_cast<double>(whole);
  const auto reaches = [&](std::int64_t part) { return static_cast<double>(part) / count >= level - kEqual; };
  auto part = static_cast<std::int64_t>(level * count);
  while (part > 0 && reaches(part - 1)) --part;
  while (part < whole && !reaches(part)) ++part;
  return part;
}

// Calls visit(score, true positives, false positives) for every distinct score, in descending order.
template <typename Visit>
void walk_down(const ScoreCounts& counts, Visit visit) {
  std::int64_t true_positives = 0;
  std::int64_t false_positives = 0;
  for (std::size_t i = counts.scores.size(); i-- > 0;) {
    if (counts.positives[i] + counts.negatives[i] == 0) continue;
    true_positives += counts.positives[i];
    false_positives += counts.negatives[i];
    visit(static_cast<double>(counts.scores[i]), true_positives, false_positives);
  }
}

Confusion confusion_of(const ScoreCounts& counts, std::int64_t true_positives, std::int64_t false_positives) {
  return {.true_positives = true_positives,
          .false_positives = false_positives,
          .false_negatives = counts.all_positives - true_positives,
          .true_negatives = counts.all_negatives - false_positives};
}
}  // namespace

Confusion confusion_at(const ScoreCounts& counts, double threshold) {
  std::int64_t true_positives = 0;
  std::int64_t false_positives = 0;
  for (std::size_t i = counts.scores.size(); i-- > 0 && static_cast<double>(counts.scores[i]) >= threshold;) {
    true_positives += counts.positives[i];
    false_positives += counts.negatives[i];
  }
  return confusion_of(counts, true_positives, false_positives);
}

Figure sensitivity(const Confusion& confusion) {
  return ratio(confusion.true_positives, confusion.true_positives + confusion.false_negatives, absent_class(confusion));
}

Figure specificity(const Confusion& confusion) {
  return ratio(confusion.true_negatives, confusion.true_negatives + confusion.false_positives, absent_class(confusion));
}

Figure positive_predictive_value(const Confusion& confusion) {
  return ratio(confusion.true_positives, confusion.true_positives + confusion.false_positives, kNothingCalled);
}

Figure negative_predictive_value(const Confusion& confusion) {
  return ratio(confusion.true_negatives, confusion.true_negatives + confusion.false_negatives, kAllCalled);
}

Figure f1(const Confusion& confusion) {
  if (confusion.true_positives + confusion.false_negatives == 0) return undefined(absent_class(confusion));
  const std::int64_t twice = 2 * confusion.true_positives;
  return ratio(twice, twice + confusion.false_positives + confusion.false_negatives, kOneClass);
}

std::vector<CurvePoint> curve_points(const ScoreCounts& counts) {
  std::vector<CurvePoint> points;
  points.push_back({.threshold = std::numeric_limits<double>::infinity(), .confusion = confusion_of(counts, 0, 0)});
  walk_down(counts, [&](double score, std::int64_t true_positives, std::int64_t false_positives) {
    points.push_back({.threshold = score, .confusion = confusion_of(counts, true_positives, false_positives)});
  });
  return points;
}

Figure sensitivity_at_specificity(const ScoreCounts& counts, double level) {
  if (!counts.has_both_classes()) return undefined(counts.all() == 0 ? kNoImages : kOneClass);
  const std::int64_t allowed = counts.all_negatives - least_part(level, counts.all_negatives);
  std::int64_t true_positives = 0;
  std::int64_t false_positives = 0;
  for (std::size_t i = counts.scores.size(); i-- > 0;) {
    false_positives += counts.negatives[i];
    if (false_positives > allowed) break;
    true_positives += counts.positives[i];
  }
  return {.value = static_cast<double>(true_positives) / static_cast<double>(counts.all_positives)};
}

Figure specificity_at_sensitivity(const ScoreCounts& counts, double level) {
  if (!counts.has_both_classes()) return undefined(counts.all() == 0 ? kNoImages : kOneClass);
  const std::int64_t needed = least_part(level, counts.all_positives);
  std::int64_t true_positives = 0;
  std::int64_t false_positives = 0;
  for (std::size_t i = counts.scores.size(); i-- > 0 && true_positives < needed;) {
    true_positives += counts.positives[i];
    false_positives += counts.negatives[i];
  }
  return {.value =
              static_cast<double>(counts.all_negatives - false_positives) / static_cast<double>(counts.all_negatives)};
}

std::string_view name_of(ThresholdRule rule) { return rule == ThresholdRule::MaxF1 ? "f1" : "youden"; }

ThresholdRule parse_threshold_rule(std::string_view text) {
  for (const ThresholdRule rule : {ThresholdRule::MaxF1, ThresholdRule::Youden}) {
    if (text == name_of(rule)) return rule;
  }
  throw ConfigError(error_text("eval.threshold", "rule", "f1 or youden", std::string(text), "one of f1, youden"));
}

std::optional<double> choose_threshold(const ScoreCounts& counts, ThresholdRule rule) {
  if (!counts.has_both_classes()) return std::nullopt;
  std::optional<double> chosen;
  double best = 0.0;
  walk_down(counts, [&](double score, std::int64_t true_positives, std::int64_t false_positives) {
    const Confusion confusion = confusion_of(counts, true_positives, false_positives);
    const double goodness = rule == ThresholdRule::MaxF1
                                ? f1(confusion).value
                                : sensitivity(confusion).value + specificity(confusion).value - 1.0;
    if (chosen && goodness <= best + kEqual) return;
    chosen = score;
    best = goodness;
  });
  return chosen;
}

}  // namespace roentgen::eval
