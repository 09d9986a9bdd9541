// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Check of sgd() against the formula in double, on any device.
#pragma once

#include <span>

#include "engine/cuda/kernel_testing.h"
#include "engine/cuda/pack.h"
#include "engine/cuda/update/sgd.h"

namespace roentgen::engine::cuda {
namespace sgd_testing {

inline void check_form(runtime::Device& device, std::span<const UpdateRange> ranges, std::size_t size, SgdWork work,
                       std::uint32_t seed, Worst& worst) {
  const auto stream = device.make_stream();
  const std::vector<float> weights = random_values(DType::F32, size, seed),
                           momenta = random_values(DType::F32, size, seed + 1);
  const std::vector<float> gradients = random_values(DType::F32, size, seed + 2);
  const SgdStep step{.lr = 0.1F, .momentum = 0.9F, .gradient_scale = 0.25F};
  const std::vector<UpdateChunk> chunks = update_chunks(ranges);
  const DeviceArray<float> w(device, *stream, weights), m(device, *stream, momenta), g(device, *stream, gradients);
  const DeviceArray<std::byte> copies(device, *stream, 2 * size);
  const DeviceArray<UpdateChunk> c(device, *stream, chunks);
  const DeviceArray<SgdStep> s(device, *stream, std::vector<SgdStep>{step});
  const DeviceArray<float> partials(device, *stream, chunks.size()), square(device, *stream, std::size_t{1});
  const DeviceArray<unsigned> counter(device, *stream, std::vector<unsigned>{0});
  const bool has_copies = work.copies != nullptr;
  work.weights = w.get(), work.momenta = m.get(), work.gradients = g.get(), work.chunks = c.get();
  work.chunk_count = static_cast<int>(chunks.size()), work.step = s.get(), work.partials = partials.get();
  work.copies = has_copies ? copies.get() : nullptr, work.counter = counter.get(), work.square_sum = square.get();
  sgd(*stream, work);

  const std::vector<float> got_w = w.read(), got_m = m.read(), got_c = decoded(work.copy_type, copies.read());
  std::vector<char> is_updated(size);
  double wanted_square = 0.0;
  constexpr double kFew = 0x1p-22;  // a few float32 operations
  for (const UpdateRange& range : ranges) {
    for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.begin + range.count); ++i) {
      is_updated[i] = 1;
      const double raw = double{step.gradient_scale} * gradients[i], p = weights[i];
      wanted_square += raw * raw;
      const double gradient = raw + double{range.weight_decay} * p;
      const double b = double{step.momentum} * momenta[i] + gradient;
      const double wanted = p - double{step.lr} * (work.nesterov ? gradient + double{step.momentum} * b : b);
      const double size_of_terms = std::abs(p) + std::abs(momenta[i]) + std::abs(raw);
      worst.add("momentum", i, got_m[i], b, kFew * size_of_terms);
      worst.add("weight", i, got_w[i], wanted, kFew * size_of_terms);
      if (has_copies) worst.add("copy", i, got_c[i], rounded_to(work.copy_type, got_w[i]), 0);
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (is_updated[i] == 0) worst.add("weight of a gap", i, got_w[i], weights[i], 0);
  }
  // Chains of at most 40 additions in a thread, then of the blocks.
  worst.add("square", 0, square.read()[0], wanted_square,
            0x1p-24 * (100.0 + static_cast<double>(chunks.size())) * wanted_square);
  worst.add("counter", 0, counter.read()[0], 0, 0);
}

}  // namespace sgd_testing

/// All forms over ranges of these lengths, with gaps between them that must stay as they are.
[[nodiscard]] inline Worst check_sgd(runtime::Device& device, std::span<const std::int64_t> counts,
                                     std::uint32_t seed) {
  std::vector<UpdateRange> ranges;
  std::int64_t size = 0;
  for (const std::int64_t count : counts) {
    ranges.push_back({size, count, ranges.size() % 2 == 0 ? 1e-2F : 0.0F});
    size += ceil_div(count, 8) * 8 + 8;
  }
  Worst worst;
  static std::byte some_copies{};
  for (const bool nesterov : {false, true}) {
    for (const DType type : {DType::F32, DType::Bf16, DType::F16}) {
      const bool has_copies = type != DType::F32;
      sgd_testing::check_form(device, ranges, static_cast<std::size_t>(size),
                              {.copies = has_copies ? &some_copies : nullptr,
                               .copy_type = has_copies ? type : DType::Bf16,
                               .nesterov = nesterov},
                              seed, worst);
    }
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
