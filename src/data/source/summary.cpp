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

/// Labels about which nothing is known cannot be learned nor measured; labels without a positive are worth a line.
void check_counts(Dataset& dataset) {
  for (std::size_t k = 0; k < dataset.label_names.size(); ++k) {
    LabelCounts all;
    for (const auto& summary : dataset.summaries) {
      all.positives += summary.labels[k].positives;
      all.negatives += summary.labels[k].negatives;
      all.unknown += summary.labels[k].unknown;
    }
    if (all.positives + all.negatives == 0) {
      throw DataError(error_text("data.labels", dataset.label_names[k], "an image where it is known",
                                 fmt::format("{} unknown", all.unknown), "leaving it out of data.labels"));
    }
    if (all.positives == 0) {
      dataset.notes.push_back(fmt::format("label {}: no positive among {}", dataset.label_names[k],
                                          counted(std::ssize(dataset.samples), "image")));
    }
  }
}

}  // namespace

void summarise(Dataset& dataset) {
  count_splits(dataset);
  check_counts(dataset);
}

}  // namespace roentgen::data
