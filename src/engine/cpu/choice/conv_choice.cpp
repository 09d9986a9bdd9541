// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/choice/conv_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "engine/cpu/conv/own_conv.h"

namespace roentgen::engine::cpu {
namespace {

constexpr std::size_t kScratchLimit = std::size_t{64} << 20;
// Up to this number of threads, each thread has its own tile unit; with more, two threads share one (measured with 1,
// 2, 16).
constexpr int kFewThreads = 4;

// Sizes of a layer from which conv_rule() chooses its algorithm.
struct Layer {
  /// Number of images in the batch in training; 1 in inference.
  std::int64_t images = 1;
  /// Number of pixels of the result, in all `images` images.
  std::int64_t px = 0;
  /// The shorter side of the result.
  std::int64_t side = 0;
  /// Number of input or output channels of one group, the smaller of the two.
  std::int64_t channels = 0;
  bool is_1x1 = false;
};

Layer layer_of(const ConvGeometry& g, Form form) {
  const std::size_t channels = g.weights.size() - 4;  // channels are the axis after the groups
  const std::int64_t images = form == Form::Training ? g.dst[0] : 1;
  return {.images = images,
          .px = images * g.dst[2] * g.dst[3],
          .side = std::min(g.dst[2], g.dst[3]),
          .channels = std::min(g.weights[channels], g.weights[channels + 1]),
          .is_1x1 = g.weights[channels + 2] == 1 && g.weights[channels + 3] == 1};
}

ConvGeometry of_one_image(ConvGeometry g) {
  g.src[0] = g.dst[0] = 1;
  return g;
}

bool is_within_scratch(ConvAlgorithm algorithm, const ConvGeometry& g, ConvPass pass, const ChoiceContext& context) {
  if (context.form == Form::Training) {
    return own_kernel(algorithm, pass, g, context.threads, {})->scratch_bytes().total(context.threads) <= kScratchLimit;
  }
  const ConvGeometry one = of_one_image(g);
  return can_compute(algorithm, pass, one) &&
         own_kernel(algorithm, pass, one, 1, {})->scratch_bytes().total(1) <= kScratchLimit;
}

// False for algorithms that are never faster. These are split products with six terms where three suffice, split
// products without tiles (AMX), and Pointwise on machines with tiles.
bool is_worth_trying(ConvAlgorithm algorithm, ConvPass pass, const ConvGeometry& g, InstructionSet set) {
  const bool has_tiles = set == InstructionSet::Amx;
  if (is_split(algorithm)) {
    return has_tiles && !(algorithm == ConvAlgorithm::Split && can_compute(ConvAlgorithm::Split2, pass, g));
  }
  return algorithm != ConvAlgorithm::Pointwise || (set >= InstructionSet::Avx512 && !has_tiles);
}

// Winograd computes four results at a time. It is not faster if tiles of results are mostly padding.
bool is_winograd_faster(const Layer& layer, ConvPass pass, const ChoiceContext& context) {
  if (context.form == Form::Inference) {
    if (context.instruction_set == InstructionSet::Amx) return layer.side >= 14;
    // On planes of 7 x 7, Winograd takes 1.5 to 2.8 times as long as Direct for one image, but 0.75 times for 16
    // images. Chooses the algorithm that is faster for a single image, because a user waits for its result.
    return layer.px >= 100;
  }
  if (context.instruction_set == InstructionSet::Amx) {
    const std::int64_t each_px = layer.px / context.threads;
    const bool has_fast_products = context.threads <= kFewThreads && pass != ConvPass::Forward &&
                                   layer.channels >= (pass == ConvPass::BackwardData ? 64 : 128);
    return layer.side >= 7 && each_px >= 196 && !has_fast_products;
  }
  // Planes of 3 x 3 and 5 x 5 fill less than half of a tile. Weight gradients of many images are faster with Winograd
  // nevertheless.
  const bool is_wide = layer.side >= 6 || (pass == ConvPass::BackwardWeights && layer.images >= 32);
  return is_wide && layer.px >= 196 && (layer.channels >= 64 || layer.px >= 784);
}

// True if split products on tiles are faster than Direct.
bool are_products_faster(const Layer& layer, ConvPass pass, const ChoiceContext& context) {
  if (layer.channels < 64) return false;
  if (context.form == Form::Inference) return !layer.is_1x1 && layer.side >= 28;
  const std::int64_t each_px = layer.px / context.threads;
  return pass == ConvPass::Forward ? !layer.is_1x1 && each_px >= 400 : each_px >= 196;
}

bool is_faster_than_first(ConvAlgorithm algorithm, const Layer& layer, ConvPass pass, const ChoiceContext& context) {
  if (is_winograd(algorithm)) return is_winograd_faster(layer, pass, context);
  if (is_split(algorithm)) return are_products_faster(layer, pass, context);
  return layer.px >= (pass == ConvPass::BackwardData ? 400 : 100);  // Pointwise
}

}  // namespace

ChoiceContext choice_context(const CompileOptions& options, DType dtype) {
  const InstructionSet own = this_instruction_set();
  ChoiceContext context{.instruction_set = own, .form = options.form, .dtype = dtype, .threads = options.threads};
  if (!options.choice.instruction_set.empty())
    context.instruction_set = instruction_set(options.choice.instruction_set);
  if (options.choice.threads > 0) context.threads = options.choice.threads;
  if (context.instruction_set <= own) return context;
  throw ConfigError(error_text("engine.cpu", "instruction set",
                               fmt::format("{} or a smaller set, which this CPU has", name_of(own)),
                               name_of(context.instruction_set), "a CPU with the larger set"));
}

std::vector<ConvAlgorithm> conv_candidates(const ConvGeometry& g, ConvPass pass, const ChoiceContext& context) {
  // For bf16 values, Winograd is considered if AVX-512 multiplies them, but not if tiles do (docs/adr/0018).
  if (context.dtype == DType::Bf16 && has_bf16_products(context.instruction_set) &&
      can_compute(ConvAlgorithm::Bf16, pass, g)) {
    std::vector<ConvAlgorithm> candidates{ConvAlgorithm::Bf16};
    constexpr auto kWinograd = ConvAlgorithm::WinogradBf16;
    if (context.instruction_set != InstructionSet::Amx && can_compute(kWinograd, pass, g) &&
        is_within_scratch(kWinograd, g, pass, context)) {
      candidates.push_back(kWinograd);
    }
    return candidates;
  }
  std::vector<ConvAlgorithm> candidates{ConvAlgorithm::Direct};
  for (const ConvAlgorithm algorithm : kConvAlgorithms) {
    if (algorithm == ConvAlgorithm::Direct || dtype_of(algorithm) != DType::F32) continue;
    if (is_worth_trying(algorithm, pass, g, context.instruction_set) && can_compute(algorithm, pass, g) &&
        is_within_scratch(algorithm, g, pass, context)) {
      candidates.push_back(algorithm);
    }
  }
  return candidates;
}

ConvAlgorithm conv_rule(const ConvGeometry& g, ConvPass pass, const ChoiceContext& context) {
  const std::vector<ConvAlgorithm> candidates = conv_candidates(g, pass, context);
  const Layer layer = layer_of(g, context.form);
  // Tries the candidates in the order of kConvAlgorithms, where Winograd is first.
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (is_faster_than_first(candidates[i], layer, pass, context)) return candidates[i];
  }
  return candidates.front();
}

std::string choice_key(const ConvGeometry& g, ConvPass pass, const ChoiceContext& context) {
  return fmt::format("{} -> {} window {} stride {} dilation {} pad {} {} {}, {} thread{}, {}", g.src.text(),
                     g.dst.text(), fmt::join(g.weights, "x"), fmt::join(g.stride, "x"), fmt::join(g.dilation, "x"),
                     fmt::join(g.pad_low, "x"), name_of(context.dtype), name_of(pass), context.threads,
                     context.threads == 1 ? "" : "s", name_of(context.instruction_set));
}

std::string pass_key(const graph::Node& node, ConvPass pass) { return fmt::format("{}/{}", node.name, name_of(pass)); }

}  // namespace roentgen::engine::cpu
