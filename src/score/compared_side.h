// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ComparedSide: side A or B of a comparison of models. A side is one model, or several seeds of one recipe. The two
// sides have the same images and true labels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "eval/comparison.h"
#include "score/compared_model.h"
#include "score/eval_set.h"

namespace roentgen::score {

struct Truth;

/// Side A or B of a comparison.
struct ComparedSide {
  /// Name that the user gave.
  std::string what;
  std::vector<ComparedModel> models;  ///< one model, or one per seed
  /// Files with the true labels.
  std::vector<std::string> label_files;
  std::vector<std::string> labels_sha256;  ///< hashes of label_files, in the same order
  /// Predictions of each model, for the same images in the same order.
  std::vector<EvalSet> sets;

  /// True if a model's best epoch was chosen on these images, which preds.csv of a run contains.
  [[nodiscard]] bool has_chosen_epoch() const;
};

/// Returns the number of ranks and batch size of the training, such as "2 ranks, 32 images an update". Returns "several
/// numbers of ranks" if models differ; empty if not known.
[[nodiscard]] std::string group_text(const ComparedSide& side);

/// Matches the models' predictions with the true labels. Throws DataError like in_order_of() and join().
/// @param models result of join_seeds()
/// @param first model with the images and labels of all models, in the same order
[[nodiscard]] ComparedSide make_side(std::string what, std::vector<ComparedModel> models, const Truth& truth,
                                     const ComparedModel& first);

/// Throws DataError with the number of differences if the true labels of the two sides differ.
void check_truth(const ComparedSide& a, const ComparedSide& b);

/// Compares two sides by eval::compare().
[[nodiscard]] eval::Comparison compare(const ComparedSide& a, const ComparedSide& b,
                                       const eval::BootstrapOptions& options);

/// Returns a warning if a run was trained with another version of the label tables than this comparison uses; otherwise
/// empty.
/// @param name name of the side, "A" or "B"
[[nodiscard]] std::string version_warning(std::string_view name, const ComparedSide& side);

/// Returns JSON: {"kind": "run" or "predictions", "seeds", "epoch_chosen_on_these_images", "predictions_sha256",
/// "labels_sha256"}. Hashes are arrays if there are several. Runs also have "ranks" and "images_per_update" if these
/// are equal for all models.
[[nodiscard]] Value to_value(const ComparedSide& side);

}  // namespace roentgen::score
