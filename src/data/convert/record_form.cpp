// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/convert/record_form.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/plural.h"

namespace roentgen::data {
#define RG_FORM_ENTRY(name) name##_form(),
std::vector<RecordForm> record_forms() { return {RG_RECORD_FORMS(RG_FORM_ENTRY)}; }
#undef RG_FORM_ENTRY

std::string record_form_names() {
  std::string names;
  for (const RecordForm& form : record_forms()) names += (names.empty() ? "" : ", ") + std::string(form.name);
  return names;
}

RecordForm record_form(std::string_view name) {
  for (const RecordForm& form : record_forms()) {
    if (form.name == name) return form;
  }
  throw ConfigError(error_text("data.convert", "--to", record_form_names(), name, "--to tfrecord"));
}

std::unique_ptr<RecordStream> open_stream(const RecordForm& form) {
  return form.open == nullptr ? std::make_unique<RecordStream>() : form.open();
}

bool has_classes(const Dataset& dataset) {
  return std::ranges::all_of(dataset.samples, [](const Sample& sample) {
    const auto positives = std::ranges::count(sample.labels, 1.0F);
    const auto negatives = std::ranges::count(sample.labels, 0.0F);
    if (positives + negatives != std::ssize(sample.labels)) return false;
    return sample.labels.size() == 1 || positives == 1;
  });
}

std::optional<Misfit> misfit(const Dataset& dataset, const RecordForm& form) {
  const std::string with_form = fmt::format("--to {}", form.name);
  if (form.has_one_label && !has_classes(dataset)) {
    return Misfit{.what = with_form,
                  .expected = "one class per image, because a record has a single label",
                  .got = fmt::format("{} of which several or none may apply to an image",
                                     counted(std::ssize(dataset.label_names), "label")),
                  .remedy = "--to recordio, tfrecord or tar"};
  }
  const bool is_single = form.name == "recordio" && dataset.label_names.size() == 1;
  if (is_single && !has_classes(dataset)) {
    return Misfit{.what = with_form,
                  .expected = "a single label that is known for every image",
                  .got = "images whose label is unknown",
                  .remedy = "--to tfrecord or tar"};
  }
  if (form.most_images > 0 && std::ssize(dataset.samples) > form.most_images) {
    return Misfit{.what = with_form,
                  .expected = fmt::format("at most {} images", form.most_images),
                  .got = fmt::format("{}", dataset.samples.size()),
                  .remedy = "--to tfrecord"};
  }
  if (form.most_name_bytes == 0) return std::nullopt;
  for (const Sample& sample : dataset.samples) {
    if (sample.id.size() <= form.most_name_bytes) continue;
    return Misfit{.what = "image names",
                  .expected = fmt::format("at most {} bytes, with {}", form.most_name_bytes, with_form),
                  .got = fmt::format("a name of {} bytes", sample.id.size()),
                  .remedy = "--to tfrecord"};
  }
  return std::nullopt;
}

std::int64_t class_of(const Sample& sample) {
  const auto found = std::ranges::find(sample.labels, 1.0F);
  return sample.labels.size() == 1 ? static_cast<std::int64_t>(found != sample.labels.end())
                                   : found - sample.labels.begin();
}

std::vector<std::int64_t> stored_labels(const Sample& sample) {
  std::vector<std::int64_t> labels;
  for (const float label : sample.labels) labels.push_back(std::isnan(label) ? -1 : static_cast<std::int64_t>(label));
  return labels;
}

}  // namespace roentgen::data
