// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/chexpert_labels.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "data/source/finding_names.h"
#include "data/source/findings.h"
#include "data/source/label_value.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

constexpr std::string_view kSupportDevices = "Support Devices";

bool is_positive(const std::vector<std::string>& row, std::size_t column) {
  return parse_label_value(field(row, column)) == LabelValue::Positive;
}

}  // namespace

std::vector<std::string> chexpert_label_names(const SourceOptions& options) {
  if (!options.labels.empty()) return options.labels;
  return {kChexpertFindings.begin(), kChexpertFindings.end()};
}

ChexpertLabels::ChexpertLabels(const std::vector<std::string>& header, const SourceOptions& options,
                               const std::vector<std::string>& labels, std::string_view what)
    : no_finding_(finding_column(header, kNoFinding)), support_devices_(finding_column(header, kSupportDevices)) {
  for (const std::string_view finding : kChexpertFindings) {
    const auto column = finding_column(header, finding);
    if (column && column != no_finding_ && column != support_devices_) findings_.push_back(*column);
  }
  for (const std::string& label : labels) {
    const auto column = finding_column(header, label);
    if (!column) refuse_ambiguous_column(header, what, label);
    if (!column && options.unknown_labels == UnknownLabels::Refuse) {
      throw ConfigError(error_text("data.labels", label, "the name of a label column of " + std::string(what),
                                   "a name that is none of " + first_names(header, header.size()),
                                   "one of these columns in data.labels"));
    }
    const auto same = std::ranges::find(columns_, column, &Column::column);
    if (column && same != columns_.end()) {
      throw ConfigError(error_text("data.labels", label, "each finding in one label only",
                                   "the same finding in label " + same->name,
                                   "removing one of the two from data.labels"));
    }
    columns_.push_back({.name = label, .column = column, .policy = policy_of(options, label)});
  }
}

std::vector<float> ChexpertLabels::read(const std::vector<std::string>& row, std::string_view where) const {
  const bool is_clear = no_finding_ && is_positive(row, *no_finding_);
  const bool has_finding =
      std::ranges::any_of(findings_, [&row](std::size_t column) { return is_positive(row, column); });
  std::vector<float> labels;
  for (const Column& label : columns_) {
    if (!label.column) {
      labels.push_back(std::numeric_limits<float>::quiet_NaN());
      continue;
    }
    const std::string text = field(row, label.column);
    const auto value = parse_label_value(text);
    if (!value) refuse_row("data.labels", where, "1, 0, -1 or an empty field for " + label.name, "\"" + text + "\"");
    const bool is_none = label.column == no_finding_ ? has_finding : is_clear && label.column != support_devices_;
    labels.push_back(*value == LabelValue::Empty && is_none ? 0.0F : label_number(*value, label.policy));
  }
  return labels;
}

}  // namespace roentgen::data
