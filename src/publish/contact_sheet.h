// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Draws a contact sheet: sample images of every finding as the network receives them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "data/source/dataset.h"
#include "data/transform/augment.h"
#include "data/transform/preprocess.h"
#include "publish/gray_picture.h"

namespace roentgen::publish {

/// One row of the sheet: a caption, and samples (indices into Dataset::samples).
struct SheetRow {
  std::string caption;
  std::vector<std::uint32_t> samples;
};

/// Selection and presentation of samples.
struct SheetOptions {
  data::Split split = data::Split::Train;
  /// Number of samples for each finding.
  std::int64_t columns = 8;
  /// Seed of the random selection.
  std::uint64_t seed = 0;
};

/// Selects a row of images for each label that has positives, and a row of images without any positive label. A row has
/// `columns` different random images, or fewer if there are not enough. A pure function of its arguments.
[[nodiscard]] std::vector<SheetRow> choose_rows(const data::Dataset& dataset, const SheetOptions& options);

/// Preprocessing of the drawn images, as in training or as in evaluation.
struct SheetView {
  data::Preprocess preprocess;
  /// Random augmentation, as in a training run with `seed` in its epoch `epoch`; null: no augmentation, as in
  /// evaluation.
  const data::Augment* augment = nullptr;
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
};

/// The drawn sheet, and the samples that could not be read, whose tiles are crossed out.
struct Sheet {
  GrayPicture picture;
  std::vector<std::string> unreadable;
};

/// Decodes the samples and draws them as tiles of size_px. A pixel is the mean over the channels before normalisation
/// by mean and standard deviation; 0 is black and 1 white.
[[nodiscard]] Sheet draw_sheet(const data::Dataset& dataset, std::span<const SheetRow> rows, const SheetView& view);

}  // namespace roentgen::publish
