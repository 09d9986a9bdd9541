// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/truth.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/error_parts.h"
#include "data/source/describe.h"
#include "score/evaluated_data.h"

namespace roentgen::score {
namespace {

namespace fs = std::filesystem;

bool fits(data::SourceOptions options, std::string_view source) {
  options.source = source;
  return data::fits_source(options);
}

/// True for a label table that can be read without its data folder. CheXpert's and PadChest's tables name images in
/// several columns, and MIMIC-CXR-JPG's table names studies instead of images.
bool is_read_alone(data::SourceOptions options) {
  if (options.source != "auto") return options.source == "nih" || options.source == "csv";
  if (fits(options, "chexpert") || fits(options, "padchest")) return false;
  options.files = data::ImageFiles::Unneeded;
  return fits(options, "csv") || !fits(options, "mimic");
}

constexpr std::string_view kRemedy = "a label table with this label, or predictions without this column";

data::Dataset load_table(data::SourceOptions options, const std::string& what) {
  options.files = data::ImageFiles::Unneeded;
  options.source = fits(options, "nih") ? "nih" : "csv";
  options.sources.clear();
  try {
    return data::load_dataset(options);
  } catch (const DataError& error) {
    const ErrorParts parts = error_parts(error.what());
    if (parts.thing != "data.labels") throw;
    const bool is_of_a_line = std::ranges::find(options.labels, parts.what) == options.labels.end();
    if (is_of_a_line) throw DataError(with_remedy(error.what(), "correcting this line"));
    throw DataError(error_text("data.labels", what, "the label " + parts.what + " of the predictions",
                               "no known label of this name", kRemedy));
  }
}

data::Dataset load_folder(data::SourceOptions options, std::span<const std::string> overrides) {
  try {
    return load_evaluated(options, overrides);
  } catch (const Error& error) {
    const ErrorParts parts = error_parts(error.what());
    if (parts.thing == "data.labels") throw DataError(with_remedy(error.what(), kRemedy));
    if (parts.thing == "data.source" && parts.expected.starts_with("every image")) {
      throw DataError(with_remedy(error.what(), "the data folder, with its images, as --labels"));
    }
    throw;
  }
}

}  // namespace

const data::Sample* Truth::find(std::string_view image) const {
  const auto row = index.find_ending(image);
  return row ? &dataset.samples[*row] : nullptr;
}

Truth read_truth(const fs::path& path, const std::vector<std::string>& labels, data::SourceOptions options,
                 std::span<const std::string> overrides) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  const fs::path whole = fs::absolute(path).lexically_normal();
  options.root = is_folder ? path : whole.parent_path();
  if (!is_folder) options.csv = {whole};
  options.labels = labels;
  options.unknown_labels = data::UnknownLabels::Mask;
  options.split = {.mode = data::SplitMode::Whole};
  Truth truth{.what = (whole.has_filename() ? whole : whole.parent_path()).filename().string()};
  const bool is_alone = !is_folder && is_read_alone(options);
  truth.dataset = is_alone ? load_table(std::move(options), truth.what) : load_folder(std::move(options), overrides);
  truth.index = data::NameIndex(truth.dataset);
  if (!is_alone) return truth;
  truth.dataset.label_names = labels;  // label names as the caller spells them
  for (std::size_t i = 0; i < truth.dataset.samples.size(); ++i) {
    // An image can be found by id and by path, because a converted image has its original name as id but a new path.
    const data::Sample& sample = truth.dataset.samples[i];
    const std::string file = sample.path.generic_string();
    if (!file.ends_with(sample.id)) truth.index.add(file, i);
  }
  return truth;
}

Value label_version(const data::Dataset& dataset, const eval::Predictions& predictions) {
  return Value::Table{{"csv", data::tables_value(dataset)}, {"positives", eval::positives_value(predictions)}};
}

Value one_or_all(const std::vector<std::string>& hashes) {
  return hashes.size() == 1 ? Value(hashes.front()) : Value(Value::Array(hashes.begin(), hashes.end()));
}

}  // namespace roentgen::score
