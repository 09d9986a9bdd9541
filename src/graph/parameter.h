// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parameters (trained) and state (running statistics) of a graph, with their initialisation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"

namespace roentgen::graph {

/// Purpose of a parameter. Norm scales, shifts and biases can be left out of weight decay; running statistics are
/// state: saved, never trained.
enum class Role : std::uint8_t { Weight, Bias, NormScale, NormShift, RunningMean, RunningVariance };

/// True for parameters that the optimizer updates.
[[nodiscard]] constexpr bool is_trained(Role role) { return role < Role::RunningMean; }

/// Initialisation of a parameter.
struct Init {
  /// Distributions.
  enum class Kind : std::uint8_t {
    Constant,      ///< `value`
    NormalFanOut,  ///< normal, sd = sqrt(2 / (OC KH KW)): He et al. 2015 for ReLU, fan out (torchvision ResNet)
    NormalFanIn,   ///< normal, sd = sqrt(2 / (IC/groups KH KW)): same, fan in (torchvision DenseNet)
    UniformFanIn,  ///< uniform in +-1/sqrt(fan_in): torch's default for convolutions and linear layers
    Normal,        ///< normal, sd = `value`
  };
  Kind kind = Kind::Constant;  ///< distribution
  double value = 0.0;          ///< value or standard deviation of Constant and Normal
  /// Inputs to one output for UniformFanIn of a bias; 0 = derived from the parameter's own shape.
  std::int64_t fan_in = 0;
  friend bool operator==(const Init&, const Init&) = default;
};

/// One parameter or state tensor: plain row-major shape as in torchvision, (OC, IC/groups, KH, KW) or (OC, IC) or (C).
struct Parameter {
  /// Full name as torchvision has it: "layer1.0.conv1.weight".
  std::string name;
  Shape shape;               ///< plain shape, as torchvision's
  Role role = Role::Weight;  ///< purpose of the parameter
  Init init;                 ///< initial values
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// The initial values of a parameter, plain row-major f32. A pure function of (parameter, seed): the stream is keyed by
/// a hash of the name, so adding a layer does not change the others.
[[nodiscard]] std::vector<float> initial_values(const Parameter& parameter, std::uint64_t seed);

}  // namespace roentgen::graph
