// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/compared_model.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "io/file.h"
#include "io/sha256.h"
#include "score/prediction_match.h"
#include "score/recipe_difference.h"

namespace roentgen::score {
namespace {

// Throws unless the models have equal recipes except for the seed, and unless their predictions differ.
void check_seeds(std::string_view name, const std::vector<ComparedModel>& models) {
  for (std::size_t i = 1; i < models.size(); ++i) {
    const ComparedModel& model = models[i];
    if (models.front().recipe && model.recipe) {
      for (const RecipeDifference& difference : recipe_differences(*models.front().recipe, *model.recipe)) {
        if (difference.key == "train.seed") continue;
        throw ConfigError(error_text("cli.compare", fmt::format("{}: {}", name, model.what),
                                     "the recipe of " + models.front().what + ", except for train.seed",
                                     "a different " + difference.key,
                                     "only runs of the same recipe in " + std::string(name)));
      }
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (models[j].predictions_sha256 != model.predictions_sha256) continue;
      throw DataError(error_text("cli.compare", fmt::format("{}: {}", name, model.what),
                                 "another seed than " + models[j].what, "the same predictions",
                                 "naming each run only once"));
    }
  }
}

}  // namespace

ComparedModel read_model(std::string what, const std::filesystem::path& predictions) {
  ComparedModel model{.what = std::move(what)};
  model.predictions = read_prediction_file(predictions);
  model.predictions_sha256 = io::sha256_hex(io::read_text(predictions).or_throw());
  return model;
}

void join_seeds(std::string_view name, std::vector<ComparedModel>& models) {
  for (std::size_t i = 1; i < models.size(); ++i) {
    ComparedModel& model = models[i];
    model.predictions =
        in_order_of(models.front().predictions, models.front().what, std::move(model.predictions), model.what);
  }
  check_seeds(name, models);
}

}  // namespace roentgen::score
