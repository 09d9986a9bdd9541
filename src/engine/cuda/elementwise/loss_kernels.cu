// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels of the sigmoid and softmax losses (loss_kernels.h). The formulas are in graph/ops/losses.h.
#include <cmath>

#include "core/error.h"
#include "engine/cuda/block_sum.h"
#include "engine/cuda/elementwise/loss_kernels.h"
#include "engine/cuda/launch.h"

namespace roentgen::engine::cuda {
namespace {

constexpr int kThreads = kSumThreads;

__device__ double softplus(double x) { return (x > 0.0 ? x : 0.0) + log1p(exp(-fabs(x))); }
__device__ double sigmoid(double x) { return x >= 0.0 ? 1.0 / (1.0 + exp(-x)) : exp(x) / (1.0 + exp(x)); }

__device__ double positive_weight(const LossTerms& terms, std::int64_t class_index) {
  return terms.positive_weights == nullptr ? 1.0 : terms.positive_weights[class_index];
}

// Loss term of one label of a sigmoid loss. softmax_term() is the term of one image of a softmax loss.
__device__ double sigmoid_term(const LossTerms& terms, const float* logits, std::int64_t i) {
  const double m = terms.mask[i];
  if (!(m > 0.0)) return 0.0;
  const double z = logits[i], t = terms.labels[i];
  return m * (positive_weight(terms, i % terms.K) * t * softplus(-z) + (1.0 - t) * softplus(z));
}
__device__ double log_total(const float* z, std::int64_t K) {
  double highest = z[0], total = 0.0;
  for (std::int64_t k = 1; k < K; ++k) highest = z[k] > highest ? z[k] : highest;
  for (std::int64_t k = 0; k < K; ++k) total += exp(z[k] - highest);
  return log(total) + highest;
}
__device__ double target(const LossTerms& terms, std::int64_t n, std::int64_t k) {
  const double even = terms.label_smoothing / static_cast<double>(terms.K);
  return even + (k == static_cast<std::int64_t>(terms.labels[n]) ? 1.0 - terms.label_smoothing : 0.0);
}
__device__ double softmax_term(const LossTerms& terms, const float* logits, std::int64_t n) {
  const double m = terms.mask[n];
  if (!(m > 0.0)) return 0.0;
  const float* const z = logits + n * terms.K;
  const double total = log_total(z, terms.K);
  double sum = 0.0;
  for (std::int64_t k = 0; k < terms.K; ++k) sum -= m * target(terms, n, k) * (z[k] - total);
  return sum;
}

// Number of known labels or images, by which the sum of terms is divided. Returns 1 instead of 0.
__device__ double divisor(const LossTerms& terms) {
  if (terms.reduction == graph::Reduction::Sum) return 1.0;
  const std::int64_t columns = terms.is_softmax ? 1 : terms.K;
  if (terms.is_partial) {
    return static_cast<double>(terms.reduction == graph::Reduction::MeanBatch ? terms.N : terms.N * columns);
  }
  double known = 0.0;
  for (std::int64_t n = threadIdx.x; n < terms.N; n += kThreads) {
    double row = 0.0;
    for (std::int64_t k = 0; k < columns; ++k) row += terms.mask[n * columns + k];
    known += terms.reduction == graph::Reduction::MeanBatch ? (row > 0.0 ? 1.0 : 0.0) : row;
  }
  known = sum_of_block(known);
  return known > 0.0 ? known : 1.0;
}

// Computes the loss of all heads. Grid: one block. Reads logits, labels and mask once, 12 bytes per label.
__global__ void __launch_bounds__(kThreads) loss_kernel(LossTerms terms, LossHeads heads, float* loss, double* scale) {
  const double over = 1.0 / divisor(terms);
  const std::int64_t count = terms.is_softmax ? terms.N : terms.N * terms.K;
  double sum = 0.0;
  for (int head = 0; head < heads.count; ++head) {
    const float* const logits = heads.at[head].logits;
    double own = 0.0;
    for (std::int64_t i = threadIdx.x; i < count; i += kThreads) {
      own += terms.is_softmax ? softmax_term(terms, logits, i) : sigmoid_term(terms, logits, i);
    }
    sum += heads.at[head].weight * own;
  }
  sum = sum_of_block(sum);
  if (threadIdx.x != 0) return;
  *loss = static_cast<float>(sum * over);
  *scale = over;
}

// Computes the gradient for the logits of one head. Grid: x blocks of kThreads labels (sigmoid) or images (softmax).
// Reads logits, labels and mask, 12 bytes per label, and writes 4.
__global__ void __launch_bounds__(kThreads)
    gradient_kernel(LossTerms terms, LossHead head, const double* scale, const StepState* state, float* gradient) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= (terms.is_softmax ? terms.N : terms.N * terms.K)) return;
  const double m = terms.mask[i], over = *scale * head.weight * state->loss_scale;
  if (!terms.is_softmax) {
    const double z = head.logits[i], t = m > 0.0 ? terms.labels[i] : 0.0, s = sigmoid(z);
    const double slope = (1.0 - t) * s - positive_weight(terms, i % terms.K) * t * (1.0 - s);
    gradient[i] = m > 0.0 ? static_cast<float>(m * slope * over) : 0.0F;
    return;
  }
  const float* const z = head.logits + i * terms.K;
  const double total = m > 0.0 ? log_total(z, terms.K) : 0.0;
  for (std::int64_t k = 0; k < terms.K; ++k) {
    const double slope = m > 0.0 ? exp(z[k] - total) - target(terms, i, k) : 0.0;
    gradient[i * terms.K + k] = static_cast<float>(m * slope * over);
  }
}

}  // namespace

void loss(runtime::Stream& stream, const LossTerms& terms, const LossHeads& heads, float* loss, double* scale) {
  launch(stream, "launch of a loss", {.blocks = dim3(1), .threads = dim3(kThreads)}, &loss_kernel, terms, heads, loss,
         scale);
}

void loss_gradient(runtime::Stream& stream, const LossTerms& terms, const LossHead& head, const double* scale,
                   const StepState* state, float* gradient) {
  const std::int64_t count = terms.is_softmax ? terms.N : terms.N * terms.K;
  launch(stream, "launch of a loss gradient",
         {.blocks = dim3(static_cast<unsigned>(ceil_div(count, kThreads))), .threads = dim3(kThreads)},
         &gradient_kernel, terms, head, scale, state, gradient);
}

}  // namespace roentgen::engine::cuda
