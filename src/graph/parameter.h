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

/// Purpose of a parameter. Biases and the scales and shifts of norms can be excluded from weight decay. Running
/// statistics are saved but not trained.
enum class Role : std::uint8_t { Weight, Bias, NormScale, NormShift, RunningMean, RunningVariance };

/// True for parameters that the optimizer updates.
[[nodiscard]] constexpr bool is_trained(Role role) { return role < Role::RunningMean; }

/// Distribution of the initial values of a parameter.
struct Init {
  /// Kind of distribution.
  enum class Kind : std::uint8_t {
    Constant,      ///< the constant `value`
    NormalFanOut,  ///< normal, sd = sqrt(2 / (OC KH KW)): He et al. 2015 for ReLU with fan out (torchvision's ResNet)
    NormalFanIn,   ///< normal, sd = sqrt(2 / (IC/groups KH KW)): He et al. 2015 with fan in (torchvision's DenseNet)
    UniformFanIn,  ///< uniform in +-1/sqrt(fan_in): torch's default for convolutions and linear layers
    Normal,        ///< normal, sd = `value`
  };
  Kind kind = Kind::Constant;  ///< kind of distribution
  double value = 0.0;          ///< the value of Constant, the standard deviation of Normal
  /// Fan in (inputs per output) for UniformFanIn of a bias; 0 to derive it from the parameter's own shape.
  std::int64_t fan_in = 0;
  friend bool operator==(const Init&, const Init&) = default;
};

/// One parameter or running statistic. The shape is row-major without padding, as in torchvision: (OC, IC/groups, KH,
/// KW), (OC, IC) or (C).
struct Parameter {
  /// Full name in torchvision, such as "layer1.0.conv1.weight".
  std::string name;
  Shape shape;               ///< shape without padding, as in torchvision
  Role role = Role::Weight;  ///< purpose of the parameter
  Init init;                 ///< initial values
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// Draws the initial values of a parameter, in row-major f32. They depend only on the parameter and the seed. The
/// random stream is selected by a hash of the name, so adding a layer does not change the values of others.
[[nodiscard]] std::vector<float> initial_values(const Parameter& parameter, std::uint64_t seed);

}  // namespace roentgen::graph
