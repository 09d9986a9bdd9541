// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include <cmath>

#include "engine/reference/ops.h"

namespace roentgen::engine::reference {
namespace {
enum ParameterIndex : std::size_t { kScale, kShift, kRunningMean, kRunningVariance };
enum KeptIndex : std::size_t { kMean, kInverseSd };

/// Returns N * H * W.
double elements_per_channel(const Array& src) {
  return static_cast<double>(src.size()) / static_cast<double>(src.shape[1]);
}

/// Computes batch statistics for training: mean and biased variance over (N, H, W), in two passes.
void batch_statistics(const Array& src, Array& mean, Array& variance) {
  const double count = elements_per_channel(src);
  for_each_element(src.shape, [&](auto n, auto c, auto h, auto w) { mean[c] += src.at(n, c, h, w) / count; });
  for_each_element(src.shape, [&](auto n, auto c, auto h, auto w) {
    const double deviation = src.at(n, c, h, w) - mean[c];
    variance[c] += deviation * deviation / count;
  });
}
}  // namespace

void forward(const graph::BatchNorm& op, Scope& scope) {
  const Array& src = *scope.src[0];
  Array& dst = *scope.dst;
  const std::int64_t C = src.shape[1];
  Array mean(Shape{C});
  Array variance(Shape{C});
  if (scope.form == Form::Training) {
    batch_statistics(src, mean, variance);
    const double count = elements_per_channel(src);
    for (std::int64_t c = 0; c < C; ++c) {
      if (!std::isfinite(mean[c]) || !std::isfinite(variance[c])) continue;
      Array& running_mean = *scope.new_state[kRunningMean];
      Array& running_variance = *scope.new_state[kRunningVariance];
      running_mean[c] += op.momentum * (mean[c] - running_mean[c]);
      running_variance[c] += op.momentum * (variance[c] * count / (count - 1.0) - running_variance[c]);
    }
  } else {
    mean = *scope.parameters[kRunningMean];
    variance = *scope.parameters[kRunningVariance];
  }
  Array inverse_sd(Shape{C});
  for (std::int64_t c = 0; c < C; ++c) inverse_sd[c] = 1.0 / std::sqrt(variance[c] + op.epsilon);

  for_each_element(src.shape, [&](auto n, auto c, auto h, auto w) {
    const double xhat = (src.at(n, c, h, w) - mean[c]) * inverse_sd[c];
    dst.at(n, c, h, w) = (*scope.parameters[kScale])[c] * xhat + (*scope.parameters[kShift])[c];
    if (scope.src.size() > 1) dst.at(n, c, h, w) += scope.src[1]->at(n, c, h, w);
  });
  if (op.relu) {
    const double rms = root_mean_square(dst);
    for (double& value : dst.data) {
      note_kink(scope, value, rms);
      value = std::fmax(value, 0.0);
    }
  }
  *scope.kept = {std::move(mean), std::move(inverse_sd)};
}

void backward(const graph::BatchNorm& op, Scope& scope) {
  RG_ASSERT(scope.form == Form::Training);
  const Array& src = *scope.src[0];
  const Array& mean = (*scope.kept)[kMean];
  const Array& inverse_sd = (*scope.kept)[kInverseSd];
  const std::int64_t C = src.shape[1];
  const double count = elements_per_channel(src);
  Array g(src.shape);
  for (std::int64_t i = 0; i < g.size(); ++i) g[i] = op.relu && !((*scope.dst)[i] > 0.0) ? 0.0 : (*scope.diff_dst)[i];
  const auto xhat = [&](auto n, auto c, auto h, auto w) { return (src.at(n, c, h, w) - mean[c]) * inverse_sd[c]; };

  Array diff_scale(Shape{C});
  Array diff_shift(Shape{C});
  for_each_element(src.shape, [&](auto n, auto c, auto h, auto w) {
    diff_scale[c] += g.at(n, c, h, w) * xhat(n, c, h, w);
    diff_shift[c] += g.at(n, c, h, w);
  });
  for_each_element(src.shape, [&](auto n, auto c, auto h, auto w) {
    const double scale = (*scope.parameters[kScale])[c];
    scope.diff_src[0]->at(n, c, h, w) +=
        scale * inverse_sd[c] * (g.at(n, c, h, w) - diff_shift[c] / count - xhat(n, c, h, w) * diff_scale[c] / count);
    if (scope.src.size() > 1) scope.diff_src[1]->at(n, c, h, w) += g.at(n, c, h, w);
  });
  for (std::int64_t c = 0; c < C; ++c) {
    (*scope.diff_parameters[kScale])[c] += diff_scale[c];
    (*scope.diff_parameters[kShift])[c] += diff_shift[c];
  }
}

}  // namespace roentgen::engine::reference
