// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// List of the checks of all kernels at small sizes. Tests run it on the emulated device, under the sanitizers and on a
// GPU. A test of the emulated kernels fails if a kernel of engine/cuda is missing from it.
#pragma once

#include <string_view>

#include "engine/cuda/conv/scaled_convert_testing.h"
#include "engine/cuda/elementwise/flat_testing.h"
#include "engine/cuda/elementwise/loss_kernels_testing.h"
#include "engine/cuda/elementwise/mask_testing.h"
#include "engine/cuda/elementwise/relu_bias_testing.h"
#include "engine/cuda/elementwise/reorder_testing.h"
#include "engine/cuda/elementwise/wire_testing.h"
#include "engine/cuda/norm/norm_testing.h"
#include "engine/cuda/norm/running_testing.h"
#include "engine/cuda/norm/segments_testing.h"
#include "engine/cuda/normalise_testing.h"
#include "engine/cuda/pool/norm_pool_testing.h"
#include "engine/cuda/pool/window_testing.h"
#include "engine/cuda/update/scale_testing.h"
#include "engine/cuda/update/update_testing.h"

namespace roentgen::engine::cuda {

/// Whether every device gives the same bits.
enum class Bits : std::uint8_t {
  Equal,      ///< kernel_bits() contains the check's hash
  Elsewhere,  ///< kernel_bits() runs the kernel with larger inputs
  Own,        ///< the kernel calls expf(), whose last bits depend on the device
};
/// A check of one or more kernels against a naive reference.
struct KernelCheck {
  std::string_view name;
  Worst (*check)(runtime::Device& device);
  Bits bits = Bits::Equal;
};

namespace kernel_checks_testing {

inline constexpr NormShape kNormShape{.rows = 60, .channels = 72, .multiprocessors = 1};

inline Worst norm_forward(runtime::Device& device) { return check_norm_forward(device, kNormShape, 1); }
inline Worst norm_backward(runtime::Device& device) { return check_norm_backward(device, kNormShape, 1); }
inline Worst norm_segments(runtime::Device& device) {
  return check_norm_segments(device, {.rows = 200, .multiprocessors = 4}, {40, 8, 32}, 1);
}
inline Worst norm_pool(runtime::Device& device) {
  return check_norm_pool(device, {.images = 1, .height = 16, .width = 11, .channels = 64}, 1);
}
inline Worst relu_bias(runtime::Device& device) { return check_relu_bias(device, kNormShape, 1); }
inline Worst updates(runtime::Device& device) {
  const std::int64_t counts[] = {5000, 3};
  return check_updates(device, counts, 1);
}
inline Worst normalise(runtime::Device& device) {
  return check_normalise_values(device, with_constants({.images = 2, .channels = 3, .pixels = 257, .dst_channels = 4}),
                                1);
}

inline Worst losses(runtime::Device& device) { return check_losses(device, false); }
inline Worst partial_losses(runtime::Device& device) { return check_losses(device, true); }

}  // namespace kernel_checks_testing

/// Checks of all kernels of engine/cuda.
inline constexpr KernelCheck kKernelChecks[] = {
    {"norm_forward", &kernel_checks_testing::norm_forward, Bits::Elsewhere},
    {"norm_backward", &kernel_checks_testing::norm_backward, Bits::Elsewhere},
    {"norm_segments", &kernel_checks_testing::norm_segments, Bits::Elsewhere},
    {"norm_pool", &kernel_checks_testing::norm_pool, Bits::Elsewhere},
    {"relu_bias", &kernel_checks_testing::relu_bias, Bits::Elsewhere},
    {"updates", &kernel_checks_testing::updates, Bits::Elsewhere},
    {"normalise", &kernel_checks_testing::normalise, Bits::Elsewhere},
    {"running", &check_running},
    {"window", &check_window},
    {"flat", &check_flat},
    {"flat_exponential", &check_flat_exponential, Bits::Own},
    {"flat_sums", &check_flat_sums},
    {"reorder", &check_reorder},
    {"channel_copy", &check_channel_copy},
    {"mask", &check_mask},
    // exp() and log1p() in double may differ in their last bits. Results are rounded to float32, which hides it.
    {"losses", &kernel_checks_testing::losses},
    {"partial_losses", &kernel_checks_testing::partial_losses},
    {"scaled_convert", &check_scaled_convert},
    {"scale", &check_scale},
    {"step_words", &check_step_words},
    {"wire", &check_wire},
};

}  // namespace roentgen::engine::cuda
