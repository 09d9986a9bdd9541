// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/prediction_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/plural.h"
#include "data/source/name_index.h"
#include "data/source/table_fields.h"
#include "io/sha256.h"

namespace roentgen::score {
namespace {

namespace fs = std::filesystem;

/// Returns the row of `file` for each image of `model`; nullopt unless `file` and `model` contain the same images.
std::optional<std::vector<std::size_t>> match(const PredictionFile& model, const PredictionFile& file) {
  if (model.images.size() != file.images.size()) return std::nullopt;
  const data::NameIndex index(file.images);
  std::vector<std::size_t> order;
  std::vector<bool> is_taken(file.images.size());
  for (const std::string& image : model.images) {
    const auto found = index.find(image);
    if (!found || is_taken[*found]) return std::nullopt;
    is_taken[*found] = true;
    order.push_back(*found);
  }
  return order;
}

std::vector<std::size_t> match_images(const PredictionFile& model, std::string_view model_what,
                                      const PredictionFile& file, std::string_view what) {
  if (auto order = match(model, file)) return std::move(*order);
  const data::NameIndex index(model.images);
  const auto shared =
      std::ranges::count_if(file.images, [&](const std::string& image) { return index.find(image).has_value(); });
  constexpr std::size_t kDigits = 12;
  throw DataError(
      error_text("cli.predictions", what,
                 fmt::format("the {} of {} (list {})", counted(std::ssize(model.images), "image"), model_what,
                             io::name_list_sha256(model.images).substr(0, kDigits)),
                 fmt::format("{} (list {}), of which {} are the same", counted(std::ssize(file.images), "image"),
                             io::name_list_sha256(file.images).substr(0, kDigits), shared),
                 "predictions of the same images"));
}

std::vector<std::size_t> match_labels(const PredictionFile& model, std::string_view model_what,
                                      const PredictionFile& file, std::string_view what) {
  std::vector<std::size_t> order;
  for (const std::string& label : model.labels) {
    const auto found = std::ranges::find(file.labels, label);
    if (found != file.labels.end()) order.push_back(static_cast<std::size_t>(found - file.labels.begin()));
  }
  if (order.size() == model.labels.size() && order.size() == file.labels.size()) return order;
  throw DataError(error_text("cli.predictions", what,
                             fmt::format("the {} of {}: {}", counted(std::ssize(model.labels), "label"), model_what,
                                         data::first_names(model.labels, 20)),
                             fmt::format("{}, of which {} are the same: {}", counted(std::ssize(file.labels), "label"),
                                         order.size(), data::first_names(file.labels, 20)),
                             "predictions of the same labels, or deleting the other columns"));
}

}  // namespace

PredictionFile in_order_of(const PredictionFile& model, std::string_view model_what, PredictionFile file,
                           std::string_view what) {
  const std::vector<std::size_t> columns = match_labels(model, model_what, file, what);
  const std::vector<std::size_t> rows = match_images(model, model_what, file, what);
  PredictionFile result{.labels = model.labels, .images = {}, .probabilities = {}};
  for (const std::size_t row : rows) {
    result.images.push_back(std::move(file.images[row]));
    for (const std::size_t column : columns) {
      result.probabilities.push_back(file.probabilities[row * columns.size() + column]);
    }
  }
  return result;
}

PredictionFile read_mean_predictions(std::span<const std::string> paths) {
  if (paths.empty()) {
    throw ConfigError(
        error_text("cli.predictions", "predictions", "at least one file", "no file", "--predictions FILE"));
  }
  PredictionFile mean = read_prediction_file(paths[0]);
  if (paths.size() == 1) return mean;
  std::vector<double> sums(mean.probabilities.begin(), mean.probabilities.end());
  const std::string first = fs::path(paths[0]).filename().string();
  for (const std::string& path : paths.subspan(1)) {
    const PredictionFile next =
        in_order_of(mean, first, read_prediction_file(path), fs::path(path).filename().string());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(next.probabilities[i]);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    mean.probabilities[i] = static_cast<float>(sums[i] / static_cast<double>(paths.size()));
  }
  return mean;
}

std::string prediction_names(std::span<const std::string> paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(fs::path(path).filename().string());
  return names.size() == 1 ? names[0]
                           : fmt::format("mean of {} files ({})", names.size(), data::first_names(names, 20));
}

}  // namespace roentgen::score
