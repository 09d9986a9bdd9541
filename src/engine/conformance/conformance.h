// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs a case (cases.h) on an engine and compares its results with the double reference. Results are named outputs, the
// gradient of every parameter, running statistics, and the guarantees of Executable on arenas and buckets.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/conformance/cases.h"
#include "engine/engine.h"

namespace roentgen::engine::reference {
class ReferenceRun;
}

namespace roentgen::engine::conformance {

/// Difference between a result of an engine and that of the reference interpreter.
struct Finding {
  /// Name of the compared result: "output logits", "gradient conv.weight", "state norm.running_mean", "arena", ...
  std::string what;
  /// Relative error |got - expected| / |expected|, by Euclidean norms. Infinite for NaN or if the numbers of elements
  /// differ.
  double error = 0.0;
  double bound = 0.0;
  [[nodiscard]] bool is_bad() const { return !(error <= bound); }
};

/// Results of all comparisons of one case.
struct Report {
  std::vector<Finding> findings;
  [[nodiscard]] bool passed() const;
  /// Largest error / bound of all findings whose bound is above zero.
  [[nodiscard]] double worst_ratio() const;
  /// Text of the bad findings, one per line.
  [[nodiscard]] std::string failures() const;
};

/// Options for running a case.
struct RunOptions {
  CompileOptions compile;
  /// Factor of every bound, for kernels that do not sum directly (Winograd) or that use narrower number types.
  double bound_scale = 1.0;
  /// A gradient whose norm is below this share of the largest gradient's norm is compared relative to the largest norm.
  /// In a random network, terms of a gradient may cancel.
  double gradient_floor = 0.0;
};

/// Values of all inputs (f32) and parameters: values that the case fixes, and random values drawn from `seed` for the
/// rest. Images are standard normal, weights normal over sqrt(fan-in), norm scales in [0.5, 1.5]. Running means are
/// standard normal, running variances in [0.5, 2], and the rest normal with sd 0.5.
[[nodiscard]] std::map<std::string, std::vector<float>> draw_values(const Case& tested, std::uint64_t seed);
/// Returns a reference run of the case with these values, after forward(). Dropout keeps all elements.
[[nodiscard]] reference::ReferenceRun run_reference(const Case& tested, Form form,
                                                    const std::map<std::string, std::vector<float>>& values);

/// Compiles the case, runs it and compares the results. Draws new values while one lies near a kink (ReLU at 0, equal
/// maxima), because float and double may fall on different sides of it. Throws the engine's errors.
[[nodiscard]] Report run_case(Engine& engine, const Case& tested, const RunOptions& options);

}  // namespace roentgen::engine::conformance
