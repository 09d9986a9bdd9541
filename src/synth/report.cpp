// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/report.h"

#include "synth/layout.h"

namespace roentgen::synth {
namespace {
FindingReport report_finding(std::span<const Entry> entries, std::size_t finding, const Auroc& auroc) {
  FindingReport report{.name = std::string(kFindingNames[finding])};
  std::vector<float> severity;
  std::vector<std::uint8_t> label;
  for (const Entry& entry : entries) {
    const bool positive = entry.study.truth.label[finding];
    if (entry.split == Split::TrainVal) {
      report.train_val_positives += positive ? 1 : 0;
      continue;
    }
    report.test_positives += positive ? 1 : 0;
    severity.push_back(static_cast<float>(entry.study.truth.severity[finding]));
    label.push_back(positive ? 1 : 0);
  }
  if (!label.empty()) report.ceiling = auroc(severity, label);
  return report;
}
}  // namespace

SynthReport summarise(std::span<const Entry> entries, const Auroc& auroc) {
  SynthReport report;
  report.images = static_cast<std::int64_t>(entries.size());
  report.patients = entries.empty() ? 0 : entries.back().key.patient;
  for (const Entry& entry : entries) {
    report.test_images += entry.split == Split::Test ? 1 : 0;
    for (std::size_t i = 0; i < kFindingNames.size(); ++i) {
      report.boxes += entry.study.truth.label[i] && !entry.study.boxes[i].empty() ? 1 : 0;
    }
  }
  double sum = 0.0;
  int defined = 0;
  for (std::size_t i = 0; i < kFindingNames.size(); ++i) {
    report.findings.push_back(report_finding(entries, i, auroc));
    if (!report.findings.back().ceiling) continue;
    sum += *report.findings.back().ceiling;
    ++defined;
  }
  if (defined > 0) report.mean_ceiling = sum / defined;
  return report;
}

}  // namespace roentgen::synth
