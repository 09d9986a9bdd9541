// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The two sides of a comparison: a model or several seeds of one recipe on each, on the same images with the same
// truth.
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

/// A or B.
struct ComparedSide {
  /// Name that the user gave.
  std::string what;
  std::vector<ComparedModel> models;  ///< one model, or one per seed
  /// Label tables of its truth.
  std::vector<std::string> label_files;
  std::vector<std::string> labels_sha256;  ///< hashes of label_files, in their order
  /// Predictions of each model, for the same images in the same order.
  std::vector<EvalSet> sets;

  /// Whether the best epoch was chosen on these images: preds.csv of a run is of its validation images.
  [[nodiscard]] bool has_chosen_epoch() const;
};

/// "2 ranks, 32 images an update", of all models; empty where it is not known, "several numbers of ranks" where they
/// differ.
[[nodiscard]] std::string group_text(const ComparedSide& side);

/// Matches the models with the truth. DataError as in_order_of() and join().
/// @param models as join_seeds() leaves them
/// @param first the model whose images and labels all others have, in its order
[[nodiscard]] ComparedSide make_side(std::string what, std::vector<ComparedModel> models, const Truth& truth,
                                     const ComparedModel& first);

/// DataError with the counts where the labels of two sides differ.
void check_truth(const ComparedSide& a, const ComparedSide& b);

/// Compares them: eval::compare().
[[nodiscard]] eval::Comparison compare(const ComparedSide& a, const ComparedSide& b,
                                       const eval::BootstrapOptions& options);

/// A warning where a run was trained and validated on other labels than it is scored with; empty where none was.
/// @param name "A" or "B"
[[nodiscard]] std::string version_warning(std::string_view name, const ComparedSide& side);

/// For JSON: {"kind": "run" or "predictions", "seeds", "epoch_chosen_on_these_images", "predictions_sha256",
/// "labels_sha256"}; hashes are arrays where there are several. Runs also have "ranks" and "images_per_update", where
/// all models have the same.
[[nodiscard]] Value to_value(const ComparedSide& side);

}  // namespace roentgen::score
