// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/label_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace roentgen::data {
namespace {

std::int64_t positives(const Sample& sample) {
  return std::count_if(sample.labels.begin(), sample.labels.end(), [](float label) { return label > 0.0F; });
}

bool is_known(const Sample& sample) {
  return std::none_of(sample.labels.begin(), sample.labels.end(), [](float label) { return std::isnan(label); });
}

}  // namespace

LabelRows::LabelRows(const Dataset& dataset, const std::vector<std::uint32_t>& samples, LabelForm form)
    : dataset_(dataset), form_(form) {
  for (const auto index : samples) RG_ASSERT(index < dataset.samples.size());
  if (form == LabelForm::MultiLabel) return;
  for (const auto index : samples) {
    const std::int64_t count = positives(dataset.samples[index]);
    if (count == 1 || (count == 0 && !is_known(dataset.samples[index]))) continue;
    throw DataError(error_text("data.loader", "labels of " + dataset.samples[index].id,
                               "exactly one positive class (softmax loss)", fmt::format("{} positive classes", count),
                               "--set loss.name=sigmoid"));
  }
}

std::int64_t LabelRows::width() const {
  return form_ == LabelForm::ClassIndex ? 1 : static_cast<std::int64_t>(dataset_.label_names.size());
}

void LabelRows::write(std::uint32_t sample, std::span<float> labels, std::span<float> mask) const {
  const std::vector<float>& values = dataset_.samples[sample].labels;
  if (form_ == LabelForm::ClassIndex) {
    const auto positive = std::find_if(values.begin(), values.end(), [](float label) { return label > 0.0F; });
    mask.front() = positive == values.end() ? 0.0F : 1.0F;
    labels.front() = positive == values.end() ? 0.0F : static_cast<float>(positive - values.begin());
    return;
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    const bool is_unknown = std::isnan(values[k]);
    labels[k] = is_unknown ? 0.0F : values[k];
    mask[k] = is_unknown ? 0.0F : 1.0F;
  }
}

}  // namespace roentgen::data
