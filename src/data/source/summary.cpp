// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/summary.h"

#include <fmt/core.h>

#include <cmath>
#include <string>
#include <string_view>
#include <unordered_set>

#include "core/error.h"
#include "core/plural.h"
#include "io/sha256.h"

namespace roentgen::data {
namespace {

std::vector<std::string> list_names(const Dataset& dataset, Split split) {
  std::vector<std::string> names;
  for (const auto& sample : dataset.samples) {
    if (sample.split == split) names.push_back(sample.id);
  }
  return names;
}

void count_splits(Dataset& dataset) {
  for (const Split split : kSplits) {
    SplitSummary& summary = dataset.summaries.at(static_cast<std::size_t>(split));
    summary.split = split;
    summary.labels.resize(dataset.label_names.size());
    std::unordered_set<std::string_view> patients;
    for (const auto& sample : dataset.samples) {
      if (sample.split != split) continue;
      ++summary.images;
      if (!sample.patient.empty()) patients.insert(sample.patient);
      for (std::size_t k = 0; k < sample.labels.size(); ++k) {
        LabelCounts& counts = summary.labels[k];
        ++(std::isnan(sample.labels[k]) ? counts.unknown : sample.labels[k] > 0 ? counts.positives : counts.negatives);
      }
    }
    summary.patients = static_cast<std::int64_t>(patients.size());
    if (summary.images > 0) summary.list_sha256 = io::name_list_sha256(list_names(dataset, split));
  }
}

LabelCounts counts_of(const Dataset& dataset, std::size_t label) {
  LabelCounts all;
  for (const auto& summary : dataset.summaries) {
    all.positives += summary.labels[label].positives;
    all.negatives += summary.labels[label].negatives;
    all.unknown += summary.labels[label].unknown;
  }
  return all;
}

/// Throws DataError for labels that are unknown everywhere, because they can neither be learned nor measured. Adds
/// notes on labels without a positive image.
void check_counts(Dataset& dataset, UnknownLabels unknown) {
  const std::vector<std::string> absent = absent_labels(dataset);
  if (!absent.empty() && (unknown == UnknownLabels::Refuse || absent.size() == dataset.label_names.size())) {
    throw DataError(error_text("data.labels", absent.front(), "at least one image with a known value",
                               fmt::format("{} unknown values", dataset.samples.size()),
                               "removing this label from data.labels"));
  }
  for (std::size_t k = 0; k < dataset.label_names.size(); ++k) {
    const LabelCounts counts = counts_of(dataset, k);
    if (counts.positives > 0 || counts.negatives == 0) continue;
    dataset.notes.push_back(fmt::format("label {}: no positive image among {}", dataset.label_names[k],
                                        counted(std::ssize(dataset.samples), "image")));
  }
}

}  // namespace

std::vector<std::string> absent_labels(const Dataset& dataset) {
  std::vector<std::string> absent;
  for (std::size_t k = 0; k < dataset.label_names.size(); ++k) {
    const LabelCounts counts = counts_of(dataset, k);
    if (counts.positives + counts.negatives == 0) absent.push_back(dataset.label_names[k]);
  }
  return absent;
}

void summarise(Dataset& dataset, UnknownLabels unknown) {
  count_splits(dataset);
  check_counts(dataset, unknown);
}

}  // namespace roentgen::data
