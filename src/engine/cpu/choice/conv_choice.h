// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Choice of the algorithm for a pass of a convolution. It is a pure function of the layer, the pass, the instruction
// set and, in training, batch and threads. Nothing is timed: equal inputs give equal choices on every machine and day.
// So a run has the same bits wherever it runs, and a benchmark measures what others will get.
#pragma once

#include <string>
#include <vector>

#include "engine/cpu/choice/instruction_set.h"
#include "engine/cpu/conv/conv_algorithm.h"
#include "engine/cpu/conv/conv_geometry.h"
#include "engine/engine.h"

namespace roentgen::engine::cpu {

/// Revision of the rule, raised when it gives other answers. Resume files store the revision of their choices.
constexpr int kChoiceRevision = 2;

/// Inputs of a choice besides the layer and the pass.
struct ChoiceContext {
  InstructionSet instruction_set = InstructionSet::Avx2;
  Form form = Form::Training;
  /// Dtype of stored values.
  DType dtype = DType::F32;
  /// Compute threads; ignored in inference.
  int threads = 1;
};

/// Context of a plan whose number of threads is settled. ConfigError for an unknown instruction set, or for one that
/// this machine lacks.
[[nodiscard]] ChoiceContext choice_context(const CompileOptions& options, DType dtype);

/// Algorithms that can compute a pass in these types within 64 MiB of scratch. The default comes first: Direct, or Bf16
/// for bf16 values where the instruction set multiplies them. In inference the scratch is that of one image by one
/// thread, so that neither number changes the algorithm of an image.
[[nodiscard]] std::vector<ConvAlgorithm> conv_candidates(const ConvGeometry& g, ConvPass pass,
                                                         const ChoiceContext& context);

/// The candidate that is expected to be fastest. In inference neither batch nor threads count. The numbers in it, what
/// they were measured on and what they lose against measuring: docs/notebook/choice.md.
[[nodiscard]] ConvAlgorithm conv_rule(const ConvGeometry& g, ConvPass pass, const ChoiceContext& context);

/// Layer, pass and context as one line, by which measured choices are kept: equal lines, equal times.
[[nodiscard]] std::string choice_key(const ConvGeometry& g, ConvPass pass, const ChoiceContext& context);

/// "<node>/forward", "<node>/backward_data" or "<node>/backward_weights", as in Plan::choices.
[[nodiscard]] std::string pass_key(const graph::Node& node, ConvPass pass);

}  // namespace roentgen::engine::cpu
