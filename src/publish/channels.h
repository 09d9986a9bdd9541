// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts a network with one input channel to a network with three, for programs that only handle RGB images.
#pragma once

#include <vector>

#include "data/transform/preprocess.h"
#include "train/checkpoint_info.h"
#include "train/weights.h"

namespace roentgen::publish {

/// Expands the input of a network to three channels. The first convolution's weights (OC, 1, KH, KW) become (OC, 3, KH,
/// KW): each channel gets a third of the original weight. Preprocessing and graph text change accordingly. An image
/// with equal channels then gives the same logits up to rounding. Does nothing if the network already has `channels`
/// channels. Throws ConfigError for numbers other than 3, and for a network whose image is not read by one ungrouped
/// convolution.
void unfold_channels(int channels, train::CheckpointInfo& info, data::Preprocess& preprocess,
                     std::vector<train::NamedTensor>& weights);

}  // namespace roentgen::publish
