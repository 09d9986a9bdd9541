// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A contact sheet: samples of every finding as the network sees them.
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

/// One row: a line of text, then samples (indices into Dataset::samples).
struct SheetRow {
  std::string caption;
  std::vector<std::uint32_t> samples;
};

/// Selection and presentation of samples.
struct SheetOptions {
  data::Split split = data::Split::Train;
  /// Samples of each finding.
  std::int64_t columns = 8;
  /// Seed of the choice.
  std::uint64_t seed = 0;
};

/// Chooses a row of images for each label with positives, and a row of images without any. A row has `columns` images,
/// drawn without repetition, or all there are. A pure function of its arguments.
[[nodiscard]] std::vector<SheetRow> choose_rows(const data::Dataset& dataset, const SheetOptions& options);

/// Input of the network in training, or in evaluation.
struct SheetView {
  data::Preprocess preprocess;
  /// The distortions of samples in this epoch of a run with this seed; null: none, as in evaluation.
  const data::Augment* augment = nullptr;
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
};

/// The sheet, and the unreadable samples, whose tiles are crossed out.
struct Sheet {
  GrayPicture picture;
  std::vector<std::string> unreadable;
};

/// Decodes and draws: tiles of size_px, side by side, the mean of their channels, black = 0 and white = 1 before
/// mean/std.
[[nodiscard]] Sheet draw_sheet(const data::Dataset& dataset, std::span<const SheetRow> rows, const SheetView& view);

}  // namespace roentgen::publish
