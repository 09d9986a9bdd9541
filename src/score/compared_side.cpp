// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/compared_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/plural.h"
#include "score/prediction_match.h"
#include "score/truth.h"

namespace roentgen::score {
namespace {

/// Returns the predictions of each model with the names and patients of `first`. Rows were matched by name before, so
/// equal positions mean the same image.
std::vector<eval::Predictions> predictions_of(const ComparedSide& side, const eval::Predictions& first) {
  std::vector<eval::Predictions> all;
  for (const EvalSet& set : side.sets) {
    all.push_back(set.predictions);
    all.back().image_ids = first.image_ids;
    all.back().patients = first.patients;
  }
  return all;
}

// True if the number of ranks and the global batch size are known and equal for all models.
bool has_one_group(const ComparedSide& side) {
  const ComparedModel& first = side.models.front();
  return first.ranks > 0 && std::ranges::all_of(side.models, [&](const ComparedModel& model) {
           return model.ranks == first.ranks && model.images_per_update == first.images_per_update;
         });
}

}  // namespace

bool ComparedSide::has_chosen_epoch() const {
  return std::ranges::any_of(models, [](const ComparedModel& model) { return model.recipe.has_value(); });
}

std::string group_text(const ComparedSide& side) {
  const ComparedModel& first = side.models.front();
  if (!has_one_group(side)) return first.ranks > 0 ? "several numbers of ranks" : "";
  return fmt::format("{}, {} an update", counted(first.ranks, "rank"), counted(first.images_per_update, "image"));
}

ComparedSide make_side(std::string what, std::vector<ComparedModel> models, const Truth& truth,
                       const ComparedModel& first) {
  ComparedSide side{.what = std::move(what),
                    .models = std::move(models),
                    .label_files = {},
                    .labels_sha256 = truth.dataset.csv_sha256,
                    .sets = {}};
  for (const auto& path : truth.dataset.csv) side.label_files.push_back(path.filename().string());
  for (ComparedModel& model : side.models) {
    model.predictions = in_order_of(first.predictions, first.what, std::move(model.predictions), model.what);
    side.sets.push_back(join(model.predictions, truth, model.what));
  }
  return side;
}

void check_truth(const ComparedSide& a, const ComparedSide& b) {
  const eval::Predictions& first = a.sets.front().predictions;
  const auto& left = first.labels;
  const auto& right = b.sets.front().predictions.labels;
  const std::size_t K = first.label_names.size();
  std::int64_t cells = 0;
  std::int64_t images = 0;
  for (std::size_t begin = 0; begin < left.size(); begin += K) {
    std::int64_t here = 0;
    for (std::size_t k = 0; k < K; ++k) here += left[begin + k] == right[begin + k] ? 0 : 1;
    cells += here;
    images += here > 0 ? 1 : 0;
  }
  if (cells == 0) return;
  throw DataError(
      error_text("cli.compare", b.models.front().what, "the same true labels as A",
                 fmt::format("{} of {} that {}, in {} of {}", cells, counted(std::ssize(left), "label"),
                             plural(cells, "differs", "differ"), images, counted(std::ssize(first.image_ids), "image")),
                 "the same label file for both models"));
}

eval::Comparison compare(const ComparedSide& a, const ComparedSide& b, const eval::BootstrapOptions& options) {
  const eval::Predictions& first = a.sets.front().predictions;
  return eval::compare(predictions_of(a, first), predictions_of(b, first), options);
}

std::string version_warning(std::string_view name, const ComparedSide& side) {
  for (const ComparedModel& model : side.models) {
    const std::vector<std::string>& known = model.csv_sha256;
    if (known.empty()) continue;
    for (std::size_t i = 0; i < side.label_files.size(); ++i) {
      const std::string& sha256 = side.labels_sha256[i];
      if (std::ranges::find(known, sha256) != known.end()) continue;
      return fmt::format("{} was trained with another version of the labels than {} (sha256 {})", name,
                         side.label_files[i], sha256);
    }
  }
  return {};
}

Value to_value(const ComparedSide& side) {
  std::vector<std::string> hashes;
  for (const ComparedModel& model : side.models) hashes.push_back(model.predictions_sha256);
  Value table = Value::Table{{"kind", side.models.front().recipe ? "run" : "predictions"},
                             {"seeds", std::int64_t{std::ssize(side.models)}},
                             {"epoch_chosen_on_these_images", side.has_chosen_epoch()},
                             {"predictions_sha256", one_or_all(hashes)},
                             {"labels_sha256", one_or_all(side.labels_sha256)}};
  if (!has_one_group(side)) return table;
  table.set("ranks", side.models.front().ranks);
  table.set("images_per_update", side.models.front().images_per_update);
  return table;
}

}  // namespace roentgen::score
