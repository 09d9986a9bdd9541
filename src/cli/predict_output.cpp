// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/predict_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "core/plural.h"
#include "eval/temperature.h"
#include "eval/text_columns.h"
#include "train/predict.h"

namespace roentgen::cli {
namespace {

constexpr std::size_t kTableImages = 40;
constexpr std::size_t kTableLabels = 3;

eval::Predictions one_image(const std::vector<std::string>& labels, std::string_view image,
                            std::span<const float> probabilities, eval::Outputs outputs) {
  return {.label_names = labels,
          .image_ids = {std::string(image)},
          .patients = {0},
          .probabilities = {probabilities.begin(), probabilities.end()},
          .labels = std::vector<std::int8_t>(labels.size(), eval::kUnknown),
          .outputs = outputs};
}

// Returns the probability rounded to as many digits as the csv file shows.
double as_printed(float probability) {
  const std::string text = fmt::format("{:.9g}", probability);
  double value = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string place_title(std::size_t place) {
  constexpr std::string_view kPlaces[] = {"most probable", "second", "third"};
  return std::string(kPlaces[place]);
}

}  // namespace

PredictionOutput::PredictionOutput(std::vector<std::string> labels, eval::Outputs outputs,
                                   const std::optional<eval::OperatingPoints>& points, const std::filesystem::path& csv)
    : labels_(std::move(labels)), outputs_(outputs) {
  if (points) {
    temperature_ = points->temperature;
    thresholds_ = eval::thresholds_for(*points, labels_);
  }
  if (csv.empty()) return;
  csv_ = std::make_unique<io::AtomicFile>(csv);
  csv_->write(train::predictions_header(labels_));
}

std::vector<float> PredictionOutput::add(std::int64_t number, std::string_view image,
                                         std::span<const float> probabilities) {
  eval::Predictions told = one_image(labels_, image, probabilities, outputs_);
  if (temperature_) told = eval::scaled_by(told, *temperature_);
  if (csv_) csv_->write(train::predictions_rows(told));
  const auto is_called = [&](std::size_t k) {
    return !thresholds_.empty() && thresholds_[k] && static_cast<double>(probabilities[k]) >= *thresholds_[k];
  };
  Value values = Value::array();
  Value called = Value::array();
  for (std::size_t k = 0; k < labels_.size(); ++k) {
    values.push_back(as_printed(told.probabilities[k]));
    if (is_called(k)) called.push_back(labels_[k]);
  }
  Value row = Value::Table{{"image", std::string(image)}, {"probabilities", std::move(values)}};
  if (!thresholds_.empty()) row.set("called", std::move(called));
  rows_.push_back(std::move(row));
  ++count_;
  if (lines_.size() < kTableImages) {
    std::vector<std::size_t> order(labels_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t k) { return told.probabilities[k]; });
    Line line{.number = number, .image = std::string(image), .cells = {}};
    for (std::size_t i = 0; i < std::min(kTableLabels, order.size()); ++i) {
      line.cells.push_back(
          fmt::format("{} {:.3f}{}", labels_[order[i]], told.probabilities[order[i]], is_called(order[i]) ? "*" : " "));
    }
    lines_.push_back(std::move(line));
  }
  return told.probabilities;
}

void PredictionOutput::finish() {
  if (csv_) csv_->commit();
}

std::string PredictionOutput::table(publish::ImageNames names) const {
  if (lines_.empty()) return "";
  std::vector<eval::TextRow> rows{{"image"}};
  for (std::size_t i = 0; i < lines_[0].cells.size(); ++i) rows[0].push_back(place_title(i));
  for (const Line& line : lines_) {
    rows.push_back({names == publish::ImageNames::Shown ? line.image : fmt::to_string(line.number)});
    rows.back().insert(rows.back().end(), line.cells.begin(), line.cells.end());
  }
  std::string text = eval::in_columns(std::move(rows), eval::LastLine::Alike);
  const auto shown = static_cast<std::int64_t>(lines_.size());
  if (count_ > shown)
    text += fmt::format("and {} more {}: --preds FILE\n", eval::with_commas(count_ - shown),
                        plural(count_ - shown, "image"));
  if (!thresholds_.empty()) text += "*: at or above the label's threshold\n";
  if (names == publish::ImageNames::Hidden) {
    text += "images are numbered because names can hold patient numbers; --image-names prints the names\n";
  }
  return text;
}

}  // namespace roentgen::cli
