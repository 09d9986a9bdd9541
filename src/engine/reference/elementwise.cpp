// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reference of ReLU, SiLU, sigmoid, add, dropout, and the ops that only move elements: flatten and concat.
#include <cmath>

#include "engine/reference/ops.h"

namespace roentgen::engine::reference {
namespace {
double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

void add_into(Array& sum, const Array& term) {
  for (std::int64_t i = 0; i < sum.size(); ++i) sum[i] += term[i];
}

/// Factor by which dropout multiplies element i.
double dropout_factor(const graph::Dropout& op, const Scope& scope, std::int64_t i) {
  if (scope.form == Form::Inference || op.probability == 0.0) return 1.0;
  return (*scope.mask)[i] / (1.0 - op.probability);
}
}  // namespace

void forward(const graph::Relu&, Scope& scope) {
  const Array& src = *scope.src[0];
  const double rms = root_mean_square(src);
  for (std::int64_t i = 0; i < src.size(); ++i) {
    note_kink(scope, src[i], rms);
    (*scope.dst)[i] = src[i] < 0.0 ? 0.0 : src[i];  // NaN stays NaN
  }
}

void backward(const graph::Relu&, Scope& scope) {
  for (std::int64_t i = 0; i < scope.dst->size(); ++i) {
    if ((*scope.dst)[i] > 0.0) (*scope.diff_src[0])[i] += (*scope.diff_dst)[i];
  }
}

void forward(const graph::Silu&, Scope& scope) {
  const Array& src = *scope.src[0];
  for (std::int64_t i = 0; i < src.size(); ++i) (*scope.dst)[i] = src[i] * sigmoid(src[i]);
}

void backward(const graph::Silu&, Scope& scope) {
  const Array& src = *scope.src[0];
  for (std::int64_t i = 0; i < src.size(); ++i) {
    const double s = sigmoid(src[i]);
    (*scope.diff_src[0])[i] += (*scope.diff_dst)[i] * s * (1.0 + src[i] * (1.0 - s));
  }
}

void forward(const graph::Sigmoid&, Scope& scope) {
  for (std::int64_t i = 0; i < scope.dst->size(); ++i) (*scope.dst)[i] = sigmoid((*scope.src[0])[i]);
}

void backward(const graph::Sigmoid&, Scope& scope) {
  for (std::int64_t i = 0; i < scope.dst->size(); ++i) {
    const double s = (*scope.dst)[i];
    (*scope.diff_src[0])[i] += (*scope.diff_dst)[i] * s * (1.0 - s);
  }
}

void forward(const graph::Add&, Scope& scope) {
  for (const Array* src : scope.src) add_into(*scope.dst, *src);
}

void backward(const graph::Add&, Scope& scope) {
  for (Array* diff_src : scope.diff_src) add_into(*diff_src, *scope.diff_dst);
}

void forward(const graph::Dropout& op, Scope& scope) {
  const Array& src = *scope.src[0];
  for (std::int64_t i = 0; i < src.size(); ++i) (*scope.dst)[i] = src[i] * dropout_factor(op, scope, i);
}

void backward(const graph::Dropout& op, Scope& scope) {
  for (std::int64_t i = 0; i < scope.dst->size(); ++i) {
    (*scope.diff_src[0])[i] += (*scope.diff_dst)[i] * dropout_factor(op, scope, i);
  }
}

void forward(const graph::Flatten&, Scope& scope) { scope.dst->data = scope.src[0]->data; }

void backward(const graph::Flatten&, Scope& scope) { add_into(*scope.diff_src[0], *scope.diff_dst); }

void forward(const graph::Auxiliary&, Scope& scope) { scope.dst->data = scope.src[0]->data; }

void backward(const graph::Auxiliary&, Scope& scope) { add_into(*scope.diff_src[0], *scope.diff_dst); }

void forward(const graph::Concat&, Scope& scope) {
  std::int64_t first = 0;
  for (const Array* src : scope.src) {
    for_each_element(src->shape,
                     [&](auto n, auto c, auto h, auto w) { scope.dst->at(n, first + c, h, w) = src->at(n, c, h, w); });
    first += src->shape[1];
  }
}

void backward(const graph::Concat&, Scope& scope) {
  std::int64_t first = 0;
  for (Array* diff_src : scope.diff_src) {
    for_each_element(diff_src->shape, [&](auto n, auto c, auto h, auto w) {
      diff_src->at(n, c, h, w) += scope.diff_dst->at(n, first + c, h, w);
    });
    first += diff_src->shape[1];
  }
}

}  // namespace roentgen::engine::reference
