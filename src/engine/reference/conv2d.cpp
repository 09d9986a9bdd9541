// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/reference/ops.h"

namespace roentgen::engine::reference {
namespace {
/// Calls `visit(i, kh, kw, ic, ih, iw)` for every product in the sum of one output pixel. `i` is the index of `ic`
/// within its group.
template <typename Visit>
void for_each_product(const graph::Conv2d& op, const Shape& src, std::int64_t oc, std::int64_t oh, std::int64_t ow,
                      Visit&& visit) {
  const std::int64_t H = src[2];
  const std::int64_t W = src[3];
  const std::int64_t group_in = src[1] / op.groups;
  const std::int64_t group_out = op.out_channels / op.groups;
  for (std::int64_t i = 0; i < group_in; ++i) {
    const std::int64_t ic = oc / group_out * group_in + i;
    for (std::int64_t kh = 0; kh < op.kernel.height; ++kh) {
      for (std::int64_t kw = 0; kw < op.kernel.width; ++kw) {
        const std::int64_t ih = oh * op.stride.height - op.pad.height + kh * op.dilation.height;
        const std::int64_t iw = ow * op.stride.width - op.pad.width + kw * op.dilation.width;
        if (ih >= 0 && ih < H && iw >= 0 && iw < W) visit(i, kh, kw, ic, ih, iw);
      }
    }
  }
}
}  // namespace

void forward(const graph::Conv2d& op, Scope& scope) {
  const Array& src = *scope.src[0];
  const Array& weight = *scope.parameters[0];
  for_each_element(scope.dst->shape, [&](auto n, auto oc, auto oh, auto ow) {
    double sum = op.bias ? (*scope.parameters[1])[oc] : 0.0;
    for_each_product(op, src.shape, oc, oh, ow, [&](auto i, auto kh, auto kw, auto ic, auto ih, auto iw) {
      sum += src.at(n, ic, ih, iw) * weight.at(oc, i, kh, kw);
    });
    scope.dst->at(n, oc, oh, ow) = sum;
  });
}

void backward(const graph::Conv2d& op, Scope& scope) {
  const Array& src = *scope.src[0];
  const Array& weight = *scope.parameters[0];
  for_each_element(scope.dst->shape, [&](auto n, auto oc, auto oh, auto ow) {
    const double g = scope.diff_dst->at(n, oc, oh, ow);
    for_each_product(op, src.shape, oc, oh, ow, [&](auto i, auto kh, auto kw, auto ic, auto ih, auto iw) {
      scope.diff_src[0]->at(n, ic, ih, iw) += g * weight.at(oc, i, kh, kw);
      scope.diff_parameters[0]->at(oc, i, kh, kw) += g * src.at(n, ic, ih, iw);
    });
    if (op.bias) (*scope.diff_parameters[1])[oc] += g;
  });
}

}  // namespace roentgen::engine::reference
