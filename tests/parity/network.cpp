// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "tests/parity/network.h"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "engine/device.h"

namespace roentgen::parity {
namespace {
/// Names of a value of Convolutions, in test output and in CompileOptions.
struct Words {
  std::string_view name;
  engine::Algorithms algorithms;
  DType dtype;
};
constexpr Words kWords[] = {{"", engine::Algorithms::Direct, DType::F32},
                            {" by Winograd", engine::Algorithms::Winograd, DType::F32},
                            {" by split products", engine::Algorithms::Split, DType::F32},
                            {" by half the split products", engine::Algorithms::Split2, DType::F32},
                            {" by measurement", engine::Algorithms::Auto, DType::F32},
                            {" in bf16", engine::Algorithms::Direct, DType::Bf16}};
}  // namespace

std::string_view name_of(Convolutions convolutions) { return kWords[static_cast<std::size_t>(convolutions)].name; }

std::unique_ptr<engine::Executable> compile(const graph::Graph& graph, engine::Form form, Convolutions convolutions) {
  const auto engine = engine::make_engine("cpu");
  const Words& words = kWords[static_cast<std::size_t>(convolutions)];
  auto executable =
      engine->compile(graph, {.form = form, .slots = 1, .algorithms = words.algorithms, .dtype = words.dtype});
  load_formula(*executable);
  return executable;
}

std::map<std::string, double> gradient_distances(const Golden& golden, Convolutions one, Convolutions other) {
  std::map<std::string, std::vector<float>> gradients;
  std::map<std::string, double> distances;
  for (const Convolutions convolutions : {one, other}) {
    const auto executable = compile(graph_of(golden), engine::Form::Training, convolutions);
    feed(*executable, 0);
    executable->forward();
    executable->backward({});
    const auto& parameters = executable->graph().parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!graph::is_trained(parameters[i].role)) continue;
      std::vector<float> gradient = executable->store_gradient(static_cast<std::int32_t>(i));
      const std::string& name = parameters[i].name;
      if (!gradients.contains(name)) {
        gradients[name] = std::move(gradient);
        continue;
      }
      double difference = 0.0, size = 0.0;
      for (std::size_t k = 0; k < gradient.size(); ++k) {
        difference += std::pow(static_cast<double>(gradient[k]) - static_cast<double>(gradients[name][k]), 2.0);
        size += std::pow(static_cast<double>(gradient[k]), 2.0);
      }
      distances[name] = std::sqrt(difference / size);
    }
  }
  return distances;
}

Comparison compare_training(const Golden& golden, Convolutions convolutions) {
  return compare_training(golden, *compile(graph_of(golden), engine::Form::Training, convolutions));
}

}  // namespace roentgen::parity
