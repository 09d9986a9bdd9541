// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The network of a golden file on the CPU engine, with weights and batches from the formulas.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "tests/parity/comparison.h"

namespace roentgen::parity {

/// Convolution kernels to test. Winograd: all layers that these kernels support. Split, Split2: products of bf16
/// numbers on machines that have them; the backward pass uses six or three products. Auto: kernels chosen by the
/// engine's rule. Bf16: values are stored in bf16 (CompileOptions::dtype).
enum class Convolutions : std::uint8_t { Direct, Winograd, Split, Split2, Auto, Bf16 };
/// Name in a test's output, such as " by Winograd"; empty for Direct.
[[nodiscard]] std::string_view name_of(Convolutions convolutions);

/// Compiles for the CPU and loads the formula's parameters and running statistics. Throws ConfigError if the machine
/// has no Winograd kernels.
[[nodiscard]] std::unique_ptr<engine::Executable> compile(const graph::Graph& graph, engine::Form form,
                                                          Convolutions convolutions = Convolutions::Direct);
/// Compiles the network of a golden file and compares its training passes.
[[nodiscard]] Comparison compare_training(const Golden& golden, Convolutions convolutions);
/// Relative L2 distance between each parameter's gradients with two kinds of convolution kernels, for the first batch.
[[nodiscard]] std::map<std::string, double> gradient_distances(const Golden& golden, Convolutions one,
                                                               Convolutions other);

}  // namespace roentgen::parity
