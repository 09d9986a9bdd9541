// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Choice of the algorithm for a pass of a convolution. It is a pure function of the layer, the pass, the instruction
// set and, in training, batch size and number of threads. Nothing is timed, so equal inputs give equal choices on every
// machine. A run therefore has the same bits on all such machines, and a benchmark measures what users will get.
#pragma once

#include <string>
#include <vector>

#include "engine/cpu/choice/instruction_set.h"
#include "engine/cpu/conv/conv_algorithm.h"
#include "engine/cpu/conv/conv_geometry.h"
#include "engine/engine.h"

namespace roentgen::engine::cpu {

/// Revision of conv_rule(), increased when its results change. Resume files store the revision of their choices.
constexpr int kChoiceRevision = 2;

/// Inputs of a choice, in addition to the layer and the pass.
struct ChoiceContext {
  InstructionSet instruction_set = InstructionSet::Avx2;
  Form form = Form::Training;
  /// Type in which values are stored.
  DType dtype = DType::F32;
  /// Number of compute threads; ignored in inference.
  int threads = 1;
};

/// Context of a plan. `options` must have the final number of threads. Throws ConfigError if the instruction set is
/// unknown or this machine lacks it.
[[nodiscard]] ChoiceContext choice_context(const CompileOptions& options, DType dtype);

/// Algorithms that can compute a pass with values of context.dtype and at most 64 MiB of scratch. The default is first:
/// Direct, or Bf16 for bf16 values if the instruction set has bf16 products. In inference, scratch is counted for one
/// image and one thread. So the choice for an image depends on neither batch size nor threads.
[[nodiscard]] std::vector<ConvAlgorithm> conv_candidates(const ConvGeometry& g, ConvPass pass,
                                                         const ChoiceContext& context);

/// Algorithm of conv_candidates() that is expected to be fastest. In inference, batch size and threads are ignored.
/// docs/notebook/choice.md explains the function's constants, their measurements, and how much slower the chosen
/// algorithms are than the measured fastest.
[[nodiscard]] ConvAlgorithm conv_rule(const ConvGeometry& g, ConvPass pass, const ChoiceContext& context);

/// Layer, pass and context as one line of text, the key of measured choices. Equal lines mean equal times.
[[nodiscard]] std::string choice_key(const ConvGeometry& g, ConvPass pass, const ChoiceContext& context);

/// Key of a pass in Plan::choices: "<node>/forward", "<node>/backward_data" or "<node>/backward_weights".
[[nodiscard]] std::string pass_key(const graph::Node& node, ConvPass pass);

}  // namespace roentgen::engine::cpu
