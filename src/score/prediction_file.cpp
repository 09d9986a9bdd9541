// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/prediction_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_set>

#include "core/error.h"
#include "data/source/table_fields.h"
#include "io/csv.h"

namespace roentgen::score {
namespace {

constexpr std::string_view kPrefix = "prob_";

struct ProbabilityColumns {
  std::vector<std::size_t> columns;
  std::vector<std::string> labels;
};

ProbabilityColumns find_probabilities(const io::Csv& table, const std::string& what) {
  ProbabilityColumns found;
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    const std::string name = data::field(table.header, i);
    if (!name.starts_with(kPrefix)) continue;
    found.columns.push_back(i);
    found.labels.push_back(name.substr(kPrefix.size()));
    if (seen.insert(name).second) continue;
    throw DataError(error_text("cli.predictions", what, "each label once", name + " twice", "one column per label"));
  }
  if (!found.columns.empty()) return found;
  throw DataError(error_text("cli.predictions", what, "columns prob_<Label>",
                             fmt::format("{}", data::first_names(table.header, 20)),
                             "a header like Image Index,prob_Mass,prob_Nodule"));
}

float read_probability(const std::string& text, const std::string& where) {
  float value = 0.0F;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_tiny =
      error == std::errc::result_out_of_range;  // values below float32's range become 0, infinite values are refused
  if (is_tiny && end == text.data() + text.size() && text.find("e-") != std::string::npos) return 0.0F;
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(value)) return value;
  throw DataError(error_text("cli.predictions", where, "a finite number", "\"" + text + "\"", "correcting this line"));
}

}  // namespace

PredictionFile read_prediction_file(const std::filesystem::path& path) {
  const io::Csv table = io::read_csv(path).or_throw();
  const std::string what = path.filename().string();
  const auto image = data::first_column(table.header, {"image index", "image", "path", "file", "filename"});
  if (!image) {
    throw DataError(error_text("cli.predictions", what, "a column Image Index", data::first_names(table.header, 20),
                               "a header like Image Index,prob_Mass,prob_Nodule"));
  }
  if (table.rows.empty()) {
    throw DataError(
        error_text("cli.predictions", what, "one row per image", "only a header", "a file with predictions"));
  }
  const ProbabilityColumns found = find_probabilities(table, what);
  PredictionFile result{.labels = found.labels, .images = {}, .probabilities = {}};
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string where = fmt::format("{} line {}", what, table.lines[i]);
    const std::string name = data::field(table.rows[i], image);
    if (name.empty() || !seen.insert(name).second) {
      throw DataError(error_text("cli.predictions", where, "an image name that occurs once",
                                 name.empty() ? "no name" : "a name that occurs twice", "correcting this line"));
    }
    result.images.push_back(name);
    for (const std::size_t column : found.columns) {
      result.probabilities.push_back(
          read_probability(data::field(table.rows[i], column), where + ", " + data::field(table.header, column)));
    }
  }
  return result;
}

}  // namespace roentgen::score
