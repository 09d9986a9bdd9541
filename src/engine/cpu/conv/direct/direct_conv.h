// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The library's direct convolutions.
#pragma once

#include "engine/cpu/conv/conv_geometry.h"
#include "engine/cpu/conv/conv_tensors.h"

namespace roentgen::engine::cpu {

/// Descriptors of the library's direct kernels, in the layouts that it chooses. Plain layouts replace one that we do
/// not support, or one that falls back to the reference implementation. Inference uses the layouts of training as well:
/// the library's preference there (channels last) is no faster, and a layer has one layout. Only `adds` and `relu` of
/// the epilogue matter.
[[nodiscard]] dnnl::convolution_forward::primitive_desc conv_forward(const ConvGeometry& g,
                                                                     const Epilogue& epilogue = {});
[[nodiscard]] dnnl::convolution_backward_data::primitive_desc conv_backward_data(const ConvGeometry& g);
[[nodiscard]] dnnl::convolution_backward_weights::primitive_desc conv_backward_weights(const ConvGeometry& g);

}  // namespace roentgen::engine::cpu
