// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The library's direct convolutions.
#pragma once

#include "engine/cpu/conv/conv_geometry.h"
#include "engine/cpu/conv/conv_tensors.h"

namespace roentgen::engine::cpu {

/// Descriptors of the library's direct kernels: its own choice of layouts, or plain ones where that is no layout of
/// ours or falls to the reference implementation. Inference uses those of training as well: what the library prefers
/// there (channels last) is no faster, and a layer has one layout. Of the epilogue `adds` and `relu` count.
[[nodiscard]] dnnl::convolution_forward::primitive_desc conv_forward(const ConvGeometry& g,
                                                                     const Epilogue& epilogue = {});
[[nodiscard]] dnnl::convolution_backward_data::primitive_desc conv_backward_data(const ConvGeometry& g);
[[nodiscard]] dnnl::convolution_backward_weights::primitive_desc conv_backward_weights(const ConvGeometry& g);

}  // namespace roentgen::engine::cpu
