// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/truth.h"

#include <algorithm>

#include "core/portable_math.h"

namespace roentgen::synth {
namespace {
// Channels of the random streams of patient and study; channel 0 is used by the chest.
constexpr std::uint32_t kTruthChannel = 100;
constexpr std::uint32_t kPlanChannel = 200;
constexpr std::uint32_t kTubesChannel = 300;
constexpr std::uint32_t kMarkChannel = 400;
constexpr double kThreshold = 0.30;
constexpr double kThresholdWidth = 0.05;

double severity_of(double u) { return kLeastSeverity + (1.0 - kLeastSeverity) * u; }

std::uint32_t channel(std::uint32_t base, std::size_t finding) { return base + static_cast<std::uint32_t>(finding); }

Mark draw_mark(const StudyKey& key, std::size_t finding, const Truth& truth, const Population& population,
               double prevalence) {
  Random random = study_stream(key, RandomStage::SynthStudy, channel(kMarkChannel, finding));
  const bool is_positive = truth.label[finding];
  const bool is_suspect = is_positive || truth.severity[finding] > 0.0;
  if (random.chance(is_suspect ? population.uncertain : population.uncertain * prevalence / (1.0 - prevalence))) {
    return Mark::Uncertain;
  }
  const bool is_left_out = random.chance(population.blank);
  if (is_positive) return Mark::Positive;
  return is_left_out ? Mark::Blank : Mark::Negative;
}

// True if the finding is drawn from the patient's random stream, which is the same in all studies. True for the first
// study, and with probability kFindingPersistence for a follow-up study.
bool keeps_patients_draw(const StudyKey& key, std::size_t finding) {
  if (key.follow_up == 0) return true;
  return study_stream(key, RandomStage::SynthStudy, channel(kTruthChannel, finding))
      .chance(kFindingPersistence[finding]);
}
}  // namespace

PerFinding<double> prevalences(const Population& population) {
  PerFinding<double> result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double in_range =
        population.prevalence_low + (population.prevalence_high - population.prevalence_low) * kFindingRank[i];
    result[i] =
        population.prevalence_factor * (population.prevalence == Prevalence::Nih ? kNihPrevalence[i] : in_range);
  }
  return result;
}

double label_odds(double severity, double prevalence, double label_noise) {
  if (severity <= 0.0) return label_noise * prevalence / (1.0 - prevalence);
  return (1.0 - label_noise) / (1.0 + portable_exp((kThreshold - severity) / kThresholdWidth));
}

double presence(double prevalence, double label_noise) {
  // Antiderivative for the mean label probability over the severities of a present finding: the integral of the
  // logistic function is ln(1 + e^x).
  const auto integral = [](double severity) {
    return kThresholdWidth * portable_log(1.0 + portable_exp((severity - kThreshold) / kThresholdWidth));
  };
  const double seen = (1.0 - label_noise) * (integral(1.0) - integral(kLeastSeverity)) / (1.0 - kLeastSeverity);
  const double unseen = label_odds(0.0, prevalence, label_noise);
  return std::clamp((prevalence - unseen) / (seen - unseen), 0.0, 1.0);
}

Truth draw_truth(const StudyKey& key, const Population& population) {
  const PerFinding<double> asked = prevalences(population);
  Truth truth;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const bool keep = keeps_patients_draw(key, i);
    Random study = study_stream(key, RandomStage::SynthStudy, channel(kTruthChannel, i));
    static_cast<void>(study.uniform());  // skips the value that keeps_patients_draw() used
    Random patient = patient_stream(key, channel(kTruthChannel, i));
    Random& source = keep ? patient : study;
    const bool present = source.chance(presence(asked[i], population.label_noise));
    const double severity = severity_of(source.uniform());
    const double drift = key.follow_up == 0 ? 0.0 : study.uniform(-0.08, 0.08);
    truth.severity[i] = present ? std::clamp(severity + drift, kLeastSeverity, 1.0) : 0.0;
    truth.label[i] = study.chance(label_odds(truth.severity[i], asked[i], population.label_noise));
    truth.mark[i] = draw_mark(key, i, truth, population, asked[i]);
  }
  if (population.shortcut) {
    const double sign = truth.severity[static_cast<std::size_t>(Finding::Edema)] > 0.0 ? 1.0 : -1.0;
    truth.has_tubes =
        study_stream(key, RandomStage::SynthStudy, kTubesChannel).chance(0.5 * (1.0 + sign * *population.shortcut));
  }
  return truth;
}

Plan plan_of(const StudyKey& key, Finding finding, double severity) {
  const auto i = static_cast<std::size_t>(finding);
  const Random random = keeps_patients_draw(key, i)
                            ? patient_stream(key, channel(kPlanChannel, i))
                            : study_stream(key, RandomStage::SynthStudy, channel(kPlanChannel, i));
  return {severity, random};
}

}  // namespace roentgen::synth
