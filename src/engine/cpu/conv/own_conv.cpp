// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/conv/own_conv.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "engine/cpu/conv/direct/direct_conv.h"
#include "engine/cpu/simd/isa.h"
#include "engine/cpu/simd/pointwise.h"

namespace roentgen::engine::cpu {
namespace {

// True if Direct's forward has whole blocks of channels, and weights in the layout of AVX-512 or AVX2.
bool is_blocked(const ConvGeometry& g, int block) {
  if (g.weights.size() != 4 || g.weights[0] % block != 0 || g.weights[1] % block != 0) return false;
  const dnnl::convolution_forward::primitive_desc forward = conv_forward(g);
  const auto tag = block == 16 ? dnnl::memory::format_tag::OIhw16i16o : dnnl::memory::format_tag::OIhw8i8o;
  return layout_of(forward.src_desc(), g.src).block == block && layout_of(forward.dst_desc(), g.dst).block == block &&
         forward.weights_desc() == dnnl::memory::desc(g.weights, dnnl::memory::data_type::f32, tag);
}

// Largest number of taps along an axis; no larger window has transforms.
constexpr std::int64_t kMostTaps = 16;

// Name of the implementation, from the number of results and taps along each axis: "4x3" means 4 results and 3 taps
// along both.
std::string name_of(const simd::WinogradWindow& window) {
  if (window.down == window.across) return fmt::format("4x{}", window.down.taps);
  return window.down.taps == 1 ? fmt::format("4x{}_across", window.across.taps)
                               : fmt::format("4x{}_down", window.down.taps);
}

ProductShape shape_for(ConvAlgorithm algorithm, const ConvGeometry& g, int threads) {
  ProductShape shape = product_shape(g, threads).value();
  shape.dtype = dtype_of(algorithm);
  shape.unit = algorithm == ConvAlgorithm::Pointwise ? simd::ProductUnit::Avx512F32 : simd::bf16_unit().value();
  if (algorithm == ConvAlgorithm::Split2) shape.planes = 2;
  return shape;
}

}  // namespace

std::optional<WinogradShape> winograd_shape(const ConvGeometry& g, int threads) {
  if (g.weights.size() != 4 || g.weights[2] > kMostTaps || g.weights[3] > kMostTaps) return std::nullopt;
  const simd::WinogradWindow window{{static_cast<int>(g.weights[2])}, {static_cast<int>(g.weights[3])}};
  const bool is_dense = g.stride == dnnl::memory::dims{1, 1} && g.dilation == dnnl::memory::dims{0, 0};
  if (!is_dense || !window.is_known()) return std::nullopt;
  const int block = simd::vector_block();
  const bool is_padded_within = g.pad_low[0] < g.weights[2] && g.pad_low[1] < g.weights[3];
  if (!is_padded_within || !is_blocked(g, block)) return std::nullopt;
  return WinogradShape{.window = window,
                       .images = g.src[0],
                       .in_blocks = g.weights[1] / block,
                       .out_blocks = g.weights[0] / block,
                       .in_height = g.src[2],
                       .in_width = g.src[3],
                       .out_height = g.dst[2],
                       .out_width = g.dst[3],
                       .pad_top = g.pad_low[0],
                       .pad_left = g.pad_low[1],
                       .block = block,
                       .threads = threads};
}

std::optional<ProductShape> product_shape(const ConvGeometry& g, int threads) {
  if (!is_blocked(g, static_cast<int>(kProductBlock))) return std::nullopt;
  return ProductShape{.images = g.src[0],
                      .in_blocks = g.weights[1] / kProductBlock,
                      .out_blocks = g.weights[0] / kProductBlock,
                      .in_height = g.src[2],
                      .in_width = g.src[3],
                      .out_height = g.dst[2],
                      .out_width = g.dst[3],
                      .kernel_height = g.weights[2],
                      .kernel_width = g.weights[3],
                      .stride_y = g.stride[0],
                      .stride_x = g.stride[1],
                      .dilation_y = g.dilation[0] + 1,
                      .dilation_x = g.dilation[1] + 1,
                      .pad_top = g.pad_low[0],
                      .pad_left = g.pad_low[1],
                      .threads = threads};
}

bool can_compute(ConvAlgorithm algorithm, ConvPass pass, const ConvGeometry& g) {
  if (algorithm == ConvAlgorithm::Direct) return true;
  if (algorithm == ConvAlgorithm::Split2 && pass == ConvPass::Forward) return false;
  if (is_winograd(algorithm)) return winograd_shape(g, 1).has_value();
  const std::optional<ProductShape> shape = product_shape(g, 1);
  if (algorithm == ConvAlgorithm::Pointwise) return shape && is_pointwise(*shape) && simd::has_avx512();
  return simd::bf16_unit() && shape;
}

std::unique_ptr<ConvKernel> own_kernel(ConvAlgorithm algorithm, ConvPass pass, const ConvGeometry& g, int threads,
                                       const ConvTensors& tensors) {
  if (!is_winograd(algorithm)) return product_kernel(shape_for(algorithm, g, threads), pass, tensors);
  WinogradShape shape = winograd_shape(g, threads).value();
  shape.dtype = dtype_of(algorithm);
  return winograd_kernel(shape, pass, tensors);
}

std::unique_ptr<Kernel> own_entry(Lowering& lowering, ConvAlgorithm algorithm, ConvPass pass, const ConvGeometry& g,
                                  Emission& emission, ConvTensors tensors) {
  const ScratchBytes scratch = own_kernel(algorithm, pass, g, lowering.threads(), tensors)->scratch_bytes();
  tensors.scratch = lowering.scratch("scratch", scratch.shared);
  tensors.own_scratch = lowering.replicated_scratch("scratch of each thread", scratch.own);
  emission.writes.insert(emission.writes.end(), {tensors.scratch, tensors.own_scratch});
  // Suffix of the implementation's name: the revision of the summation order, so that plans from builds that sum
  // differently do not compare equal.
  const std::string_view order = pass != ConvPass::BackwardWeights ? "" : is_winograd(algorithm) ? ".3" : ".2";
  if (is_winograd(algorithm)) {
    const std::string_view stored = algorithm == ConvAlgorithm::WinogradBf16 ? "_of_bf16" : "";
    const std::string window = name_of(winograd_shape(g, lowering.threads()).value().window);
    emission.implementation = fmt::format("winograd_{}{}{}:{}", window, stored, order, simd::target_name());
  } else if (algorithm == ConvAlgorithm::Pointwise) {
    emission.implementation = "pointwise:AVX512";
  } else {
    const std::string_view products = algorithm == ConvAlgorithm::Split    ? "split_bf16x3"
                                      : algorithm == ConvAlgorithm::Split2 ? "split_bf16x2"
                                                                           : "bf16";
    emission.implementation = fmt::format("{}{}:{}", products, order, simd::name_of(simd::bf16_unit().value()));
  }
  if (!tensors.prologue.pieces.empty()) emission.implementation += " of norm";
  if (tensors.epilogue.moments.partial >= 0) emission.implementation += " with moments";
  if (tensors.epilogue.norm_gradient) emission.implementation += " into norm";
  return own_kernel(algorithm, pass, g, lowering.threads(), tensors);
}

}  // namespace roentgen::engine::cpu
