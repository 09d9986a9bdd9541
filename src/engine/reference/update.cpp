// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/reference/update.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace roentgen::engine::reference {
namespace {

/// Numbers for the update of one element.
struct Numbers {
  double lr = 0.0;
  double weight_decay = 0.0;
  double step = 1.0;
};

/// Updates one element: target `p`, source `g`, and the element's state in the order of rule.state().
void element(const Sgd& rule, const Numbers& numbers, double& p, double g, double* state) {
  g += numbers.weight_decay * p;
  if (rule.momentum == 0.0) {
    p -= numbers.lr * g;
    return;
  }
  state[0] = rule.momentum * state[0] + g;
  p -= numbers.lr * (rule.nesterov ? g + rule.momentum * state[0] : state[0]);
}

void element(const Adam& rule, const Numbers& numbers, double& p, double g, double* state) {
  if (rule.decoupled) {
    p *= 1.0 - numbers.lr * numbers.weight_decay;
  } else {
    g += numbers.weight_decay * p;
  }
  state[0] = rule.beta1 * state[0] + (1.0 - rule.beta1) * g;
  state[1] = rule.beta2 * state[1] + (1.0 - rule.beta2) * g * g;
  const double mean = state[0] / (1.0 - std::pow(rule.beta1, numbers.step));
  const double square = state[1] / (1.0 - std::pow(rule.beta2, numbers.step));
  p -= numbers.lr * mean / (std::sqrt(square) + rule.epsilon);
}

void element(const RmsProp& rule, const Numbers& numbers, double& p, double g, double* state) {
  g += numbers.weight_decay * p;
  state[0] = rule.alpha * state[0] + (1.0 - rule.alpha) * g * g;
  double square = state[0];
  if (rule.centered) {
    double& mean = state[rule.momentum > 0.0 ? 2 : 1];
    mean = rule.alpha * mean + (1.0 - rule.alpha) * g;
    square = std::max(square - mean * mean, 0.0);
  }
  double change = g / (std::sqrt(square) + rule.epsilon);
  if (rule.momentum > 0.0) change = state[1] = rule.momentum * state[1] + change;
  p -= numbers.lr * change;
}

// `g` and the weight decay already include the layer's adaptation factor.
void element(const Lars& rule, const Numbers& numbers, double& p, double g, double* state) {
  state[0] = rule.momentum * state[0] + g + numbers.weight_decay * p;
  p -= numbers.lr * state[0];
}

void element(const Average& rule, const Numbers&, double& p, double g, double*) { p += rule.share * (g - p); }

void element(const Accumulate& rule, const Numbers&, double& p, double g, double*) { p = rule.is_first ? g : p + g; }

double norm(const std::vector<double>& values, std::size_t begin, std::size_t count) {
  double squares = 0.0;
  for (std::size_t i = begin; i < begin + count; ++i) squares += values[i] * values[i];
  return std::sqrt(squares);
}

/// Factor of a layer's gradient and decay. It is 1 for rules that are not layer-wise.
template <typename Rule>
double adaptation(const Rule&, const UpdateRange&, const std::vector<double>&, const std::vector<double>&) {
  static_assert(!Rule::kIsLayerwise);
  return 1.0;
}

double adaptation(const Lars& rule, const UpdateRange& range, const std::vector<double>& target,
                  const std::vector<double>& source) {
  const auto begin = static_cast<std::size_t>(range.begin), count = static_cast<std::size_t>(range.count);
  const double weights = norm(target, begin, count), gradients = norm(source, begin, count);
  if (!range.is_layer || weights == 0.0 || gradients == 0.0) return 1.0;
  return rule.trust * weights / (gradients + range.weight_decay * weights);
}

std::vector<double> values_of(const Arena& arena) {
  const std::vector<float> values = arena.values();
  return {values.begin(), values.end()};
}

void set(Arena& arena, const std::vector<double>& values) {
  std::vector<float> rounded(values.size());
  std::ranges::transform(values, rounded.begin(), [](double value) { return static_cast<float>(value); });
  arena.upload(0, rounded);
}

template <typename Rule>
void run(const Rule& rule, const UpdateWork& work, UpdateValues& values) {
  for (double& value : values.source) value *= work.scale;
  if (work.clip_norm > 0.0) {
    const double factor = std::min(1.0, work.clip_norm / (norm(values.source, 0, values.source.size()) + 1e-6));
    for (double& value : values.source) value *= factor;
  }
  for (const UpdateRange& range : work.ranges) {
    const double adapted = adaptation(rule, range, values.target, values.source);
    const Numbers numbers{
        .lr = work.lr, .weight_decay = range.weight_decay * adapted, .step = static_cast<double>(work.step)};
    for (std::int64_t i = range.begin; i < range.begin + range.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      double own[3] = {};
      for (std::size_t k = 0; k < values.state.size(); ++k) own[k] = values.state[k][at];
      element(rule, numbers, values.target[at], values.source[at] * adapted, own);
      for (std::size_t k = 0; k < values.state.size(); ++k) values.state[k][at] = own[k];
    }
  }
}

}  // namespace

void update(const UpdateRule& rule, const UpdateWork& work, UpdateValues& values) {
  std::visit([&](const auto& one) { run(one, work, values); }, rule);
}

void update(const UpdateRule& rule, const UpdateWork& work) {
  UpdateValues values{.target = values_of(work.target), .source = values_of(work.source), .state = {}};
  for (const Arena* arena : work.state) values.state.push_back(values_of(*arena));
  update(rule, work, values);
  set(work.target, values.target);
  for (std::size_t k = 0; k < values.state.size(); ++k) set(*work.state[k], values.state[k]);
}

}  // namespace roentgen::engine::reference
