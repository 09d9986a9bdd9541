// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Test-time augmentation: the fixed views of a picture whose probabilities are averaged.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/transform/augment.h"
#include "data/transform/preprocess.h"

namespace roentgen::data {

/// Side of a crop of five-crop and ten-crop, as a share of the picture's side: the field's "resize to 256, crop 224".
inline constexpr double kTestCrop = 224.0 / 256.0;

/// The names of test_views(), with commas between.
[[nodiscard]] std::string test_view_names();

/// The views of a name, each one an AugmentDraw without anything random:
///   none       the picture as it is: one view
///   flip       as it is, and its mirror image
///   five-crop  square parts of side kTestCrop in the middle and in the four corners, resized to the network's input
///   ten-crop   these five and their mirror images
/// Shares and places are those of transform.h's frame: after fit (squash, crop or pad). A part is cut and resized in
/// one pass, where torchvision's TenCrop cuts pixels out of a picture of 8/7 the size. Where `preprocess` cuts its
/// input out of a larger picture, the parts are its cuts, in the middle and at the corners. ConfigError naming the
/// choices.
[[nodiscard]] std::vector<AugmentDraw> test_views(std::string_view name, const Preprocess& preprocess = {});

/// Definition of the views in one line, for tables and JSON.
[[nodiscard]] std::string test_views_text(std::string_view name);

}  // namespace roentgen::data
