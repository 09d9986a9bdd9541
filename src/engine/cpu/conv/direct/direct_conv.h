// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Creates oneDNN's kernels for direct convolution.
#pragma once

#include "engine/cpu/conv/conv_geometry.h"
#include "engine/cpu/conv/conv_tensors.h"

namespace roentgen::engine::cpu {

/// Descriptors of oneDNN's direct kernels, in the layouts that oneDNN chooses. If we do not support such a layout, or
/// it leads to oneDNN's reference implementation, plain layouts are used instead. Inference uses the layouts of
/// training too: channels last, which oneDNN prefers there, is no faster, and each layer then needs only one layout.
/// Only `adds` and `relu` of the epilogue are used.
[[nodiscard]] dnnl::convolution_forward::primitive_desc conv_forward(const ConvGeometry& g,
                                                                     const Epilogue& epilogue = {});
[[nodiscard]] dnnl::convolution_backward_data::primitive_desc conv_backward_data(const ConvGeometry& g);
[[nodiscard]] dnnl::convolution_backward_weights::primitive_desc conv_backward_weights(const ConvGeometry& g);

}  // namespace roentgen::engine::cpu
