// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/choice/conv_choices.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <variant>

#include "core/error.h"
#include "engine/cpu/choice/conv_choice.h"
#include "engine/cpu/conv/own_conv.h"
#include "engine/cpu/simd/isa.h"
#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu {
namespace {

std::string described_cpu() {
  const std::optional<simd::ProductUnit> unit = simd::bf16_unit();
  return fmt::format("this CPU has vectors of {} floats and {} for bf16 products", simd::vector_block(),
                     unit ? simd::name_of(*unit) : "no instructions");
}

// Algorithm named by a stored or measured choice, if this machine can run it for values of this type. Split products
// without tiles run only on explicit request: other algorithms are faster, and tiles would give other bits.
ConvAlgorithm known_algorithm(const std::string& name, const std::string& key, const ConvGeometry& g, ConvPass pass,
                              const CompileOptions& options, DType dtype, std::string_view remedy) {
  const std::optional<ConvAlgorithm> found = conv_algorithm(name);
  if (!found) {
    throw ConfigError(error_text("engine.plan", "algorithm of " + key,
                                 "direct, winograd, split, split2, bf16, winograd_bf16 or pointwise", name, remedy));
  }
  if (dtype_of(*found) == DType::Bf16 && dtype != DType::Bf16) {
    throw ConfigError(error_text("engine.plan", "algorithm of " + key, "an algorithm for f32 values", name, remedy));
  }
  const bool is_slow = is_split(*found) && !simd::has_tiles() && !name_of(options.algorithms).starts_with("split");
  if (!is_slow && can_compute(*found, pass, g)) return *found;
  throw ConfigError(error_text("engine.plan", "algorithm of " + key, "an algorithm that this CPU can run for the layer",
                               name + "; " + described_cpu(), remedy));
}

// Algorithm requested by name, or Direct if the requested one cannot compute the pass.
ConvAlgorithm named_algorithm(ConvAlgorithm wanted, const ConvGeometry& g, ConvPass pass,
                              const ChoiceContext& context) {
  const bool is_bf16 = context.dtype == DType::Bf16;
  if (is_bf16 && wanted == ConvAlgorithm::Winograd && can_compute(ConvAlgorithm::WinogradBf16, pass, g)) {
    return ConvAlgorithm::WinogradBf16;
  }
  if (is_bf16 && can_compute(ConvAlgorithm::Bf16, pass, g)) return ConvAlgorithm::Bf16;
  if (wanted == ConvAlgorithm::Split2 && pass == ConvPass::Forward) wanted = ConvAlgorithm::Split;
  return can_compute(wanted, pass, g) ? wanted : ConvAlgorithm::Direct;
}

// Choice in the stored plan, or nullopt if there is no stored plan.
std::optional<std::string> stored_choice(const CompileOptions& options, const std::string& key) {
  if (options.choices.empty()) return std::nullopt;
  const auto stored = options.choices.find(key);
  if (stored != options.choices.end()) return stored->second;
  throw ConfigError(error_text("engine.plan", "algorithm of " + key, "an entry in the stored plan of the run", "none",
                               "the model and options that the run began with"));
}

ConvAlgorithm algorithm_of(const ConvGeometry& g, ConvPass pass, const std::string& key, const CompileOptions& options,
                           const ChoiceContext& context, std::int64_t& measured_choices) {
  if (const std::optional<std::string> stored = stored_choice(options, key)) {
    return known_algorithm(*stored, key, g, pass, options, context.dtype,
                           "a machine like the one that the run began on, or a new run");
  }
  if (options.algorithms != Algorithms::Auto && options.algorithms != Algorithms::Heuristic) {
    return named_algorithm(conv_algorithm(name_of(options.algorithms)).value(), g, pass, context);
  }
  if (options.form == Form::Training && !options.choice.measured.empty()) {
    const auto measured = options.choice.measured.find(choice_key(g, pass, context));
    if (measured != options.choice.measured.end()) {
      ++measured_choices;
      return known_algorithm(measured->second, key, g, pass, options, context.dtype,
                             "setting train.choices to a file that roentgen bench choose --write made on this machine");
    }
  }
  return conv_rule(g, pass, context);
}

}  // namespace

ConvChoices::ConvChoices(const graph::Graph& graph, const CompileOptions& options, DType dtype,
                         const std::vector<bool>& is_lowered, const std::vector<bool>& needs_gradient, Plan& plan) {
  const ChoiceContext context = choice_context(options, dtype);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const graph::Node& node = graph.nodes()[i];
    const auto* conv = std::get_if<graph::Conv2d>(&node.op);
    if (conv == nullptr || !is_lowered[i]) continue;
    const ConvGeometry g = conv_geometry(*conv, node, graph.node(node.inputs[0]).shape);
    const auto choose = [&](ConvPass pass) {
      const std::string key = pass_key(node, pass);
      const ConvAlgorithm algorithm = algorithm_of(g, pass, key, options, context, plan.measured_choices);
      algorithms_[{static_cast<graph::NodeId>(i), pass}] = algorithm;
      plan.choices[key] = name_of(algorithm);
    };
    choose(ConvPass::Forward);
    if (!needs_gradient[i]) continue;
    choose(ConvPass::BackwardWeights);
    if (needs_gradient[static_cast<std::size_t>(node.inputs[0])]) choose(ConvPass::BackwardData);
  }
}

std::optional<ConvAlgorithm> ConvChoices::find(graph::NodeId id, ConvPass pass) const {
  const auto found = algorithms_.find({id, pass});
  return found == algorithms_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace roentgen::engine::cpu
