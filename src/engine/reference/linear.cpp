// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/reference/ops.h"

namespace roentgen::engine::reference {

void forward(const graph::Linear& op, Scope& scope) {
  const Array& src = *scope.src[0];
  const Array& weight = *scope.parameters[0];
  const std::int64_t N = src.shape[0];
  const std::int64_t IC = src.shape[1];
  const std::int64_t OC = op.out_features;
  for (std::int64_t n = 0; n < N; ++n) {
    for (std::int64_t oc = 0; oc < OC; ++oc) {
      double sum = op.bias ? (*scope.parameters[1])[oc] : 0.0;
      for (std::int64_t ic = 0; ic < IC; ++ic) sum += src[n * IC + ic] * weight[oc * IC + ic];
      (*scope.dst)[n * OC + oc] = sum;
    }
  }
}

void backward(const graph::Linear& op, Scope& scope) {
  const Array& src = *scope.src[0];
  const Array& weight = *scope.parameters[0];
  const std::int64_t N = src.shape[0];
  const std::int64_t IC = src.shape[1];
  const std::int64_t OC = op.out_features;
  for (std::int64_t n = 0; n < N; ++n) {
    for (std::int64_t oc = 0; oc < OC; ++oc) {
      const double g = (*scope.diff_dst)[n * OC + oc];
      for (std::int64_t ic = 0; ic < IC; ++ic) {
        (*scope.diff_src[0])[n * IC + ic] += g * weight[oc * IC + ic];
        (*scope.diff_parameters[0])[oc * IC + ic] += g * src[n * IC + ic];
      }
      if (op.bias) (*scope.diff_parameters[1])[oc] += g;
    }
  }
}

}  // namespace roentgen::engine::reference
