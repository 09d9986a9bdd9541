// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Test-time augmentation: fixed views of a picture, over which probabilities are averaged.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/transform/augment.h"
#include "data/transform/preprocess.h"

namespace roentgen::data {

/// Side of a crop in five-crop and ten-crop, as a fraction of the picture's side: the common "resize to 256, crop 224".
inline constexpr double kTestCrop = 224.0 / 256.0;

/// Names that test_views() accepts, separated by commas.
[[nodiscard]] std::string test_view_names();

/// Returns the views of a name, each as an AugmentDraw without random values:
///   none       the unchanged picture: one view
///   flip       the unchanged picture and its mirror image
///   five-crop  squares of side kTestCrop in the centre and in the four corners, resized to the network's input
///   ten-crop   these five and their mirror images
/// Sides and positions refer to the frame of transform.h, after fit (squash, crop or pad). A crop is cut and resized in
/// one pass. torchvision's TenCrop instead cuts pixels from a picture that is 8/7 times as large. If `preprocess` cuts
/// its input from a larger picture, the crops are cuts of that size, in the centre and at the corners. Throws
/// ConfigError that lists the choices.
[[nodiscard]] std::vector<AugmentDraw> test_views(std::string_view name, const Preprocess& preprocess = {});

/// Definition of the views in one line, for tables and JSON.
[[nodiscard]] std::string test_views_text(std::string_view name);

}  // namespace roentgen::data
