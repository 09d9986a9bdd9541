// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "tests/parity/golden.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "core/error.h"
#include "io/json.h"
#include "tests/parity/formula.h"

namespace roentgen::parity {
namespace {
/// Reads rows of [norm, projections ...], in the order of `names`.
std::map<std::string, Summary> read_summaries(const Value& names, const Value& rows) {
  RG_ASSERT(names.as_array().size() == rows.as_array().size());
  std::map<std::string, Summary> summaries;
  for (std::size_t i = 0; i < names.as_array().size(); ++i) {
    const std::vector<double> row = numbers(rows.as_array()[i]);
    summaries[names.as_array()[i].as_string()] = {.norm = row.at(0), .projections = {row.begin() + 1, row.end()}};
  }
  return summaries;
}

GoldenPass read_pass(const Value& pass, const Value& names) {
  GoldenPass golden{.logits = numbers(pass.at("logits")), .loss = pass.at("loss").as_double(), .gradients = {}};
  if (const Value* rows = pass.find("gradients")) golden.gradients = read_summaries(names, *rows);
  return golden;
}

Yardstick read_yardstick(const Value& layouts) {
  Yardstick larger;
  for (const auto& [layout, errors] : layouts.as_table()) {
    larger.gradient_median = std::max(larger.gradient_median, errors.at("gradient_median").as_double());
    larger.gradient_max = std::max(larger.gradient_max, errors.at("gradient_max").as_double());
    larger.logits_max_abs = std::max(larger.logits_max_abs, errors.at("logits_max_abs").as_double());
    larger.running_max = std::max(larger.running_max, errors.at("running_max").as_double());
    if (const Value* gradients = errors.find("gradients")) {
      for (const auto& [name, error] : gradients->as_table()) {
        larger.gradients[name] = std::max(larger.gradients[name], error.as_double());
      }
    }
  }
  return larger;
}
}  // namespace

std::string golden_path(std::string_view file) {
  const char* root = std::getenv("ROENTGEN_SOURCE_DIR");
  return (root == nullptr ? std::string(".") : std::string(root)) + "/tests/golden/parity/" + std::string(file);
}

Value read_tree(std::string_view name) {
  const std::string path = golden_path(std::string(name) + ".json");
  std::ifstream file(path);
  if (!file) throw DataError(error_text("parity.golden", path, "a readable file", "none"));
  std::ostringstream text;
  text << file.rdbuf();
  return io::parse_json(text.str(), path).or_throw();
}

Golden read_golden(std::string_view name) {
  const Value tree = read_tree(name);
  const Value* model = tree.find("model");
  Golden golden{.model = model == nullptr ? "" : model->as_string(),
                .graph = model == nullptr ? tree.at("graph").as_string() : "",
                .width = tree.find("width") == nullptr ? 64 : tree.at("width").as_integer(),
                .image = shape_of(tree.at("shape")),
                .labels = tree.at("labels").as_integer(),
                .training = {},
                .running = read_summaries(tree.at("running_names"), tree.at("running")),
                .inference = read_pass(tree.at("inference"), Value()),
                .torch = read_yardstick(tree.at("float32"))};
  for (const Value& pass : tree.at("training").as_array()) {
    golden.training.push_back(read_pass(pass, tree.at("gradient_names")));
  }
  return golden;
}

std::vector<double> numbers(const Value& array) {
  std::vector<double> values;
  for (const Value& item : array.as_array()) values.push_back(item.as_double());
  return values;
}

Shape shape_of(const Value& array) {
  std::vector<std::int64_t> dims;
  for (const Value& dim : array.as_array()) dims.push_back(dim.as_integer());
  return Shape(dims);
}

double relative_error(std::string_view name, std::span<const float> values, const Summary& golden) {
  const std::vector<double> ours = project(name, values, static_cast<std::int64_t>(golden.projections.size()));
  double sum = 0.0;
  for (std::size_t k = 0; k < ours.size(); ++k) sum += std::pow(ours[k] - golden.projections[k], 2.0);
  constexpr double kZeroNorm = 1e-9;
  return std::sqrt(sum / static_cast<double>(ours.size())) / (golden.norm > kZeroNorm ? golden.norm : 1.0);
}

double max_difference(std::span<const float> ours, std::span<const double> golden) {
  if (ours.size() != golden.size()) return std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double difference = std::abs(static_cast<double>(ours[i]) - golden[i]);
    // Negated comparison, because NaN compares false with everything and must not pass as a small difference.
    if (!(difference <= largest))
      largest = std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
  }
  return largest;
}

double median(std::vector<double> values) {
  RG_ASSERT(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

}  // namespace roentgen::parity
