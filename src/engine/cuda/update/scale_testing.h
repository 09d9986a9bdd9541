// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks the kernels of scale.h and step_words.h, which write StepState, on any device.
#pragma once

#include <cmath>
#include <limits>

#include "engine/cuda/kernel_testing.h"
#include "engine/cuda/plan/step_words.h"
#include "engine/cuda/update/scale.h"

namespace roentgen::engine::cuda {
namespace scale_testing {

/// Numbers of one call of store_clipped_scale().
struct Case {
  double scale = 1.0, clip_norm = 0.0;
  std::int64_t growth_updates = 0;
  float first = 1.0F;  ///< first element of the source; infinite: an overflow
  StepState before;
};

inline void check_clip(runtime::Device& device, std::int64_t count, const Case& tested, Worst& worst) {
  const auto stream = device.make_stream();
  Arena target(device, *stream, count), source(device, *stream, count);
  std::vector<float> values = random_values(DType::F32, static_cast<std::size_t>(count), 18);
  values[0] = tested.first;
  source.upload(0, values);
  const UpdateWork work{.target = target, .source = source, .scale = tested.scale, .clip_norm = tested.clip_norm};
  const DeviceArray<StepState> state(device, *stream, std::vector{tested.before});
  const DeviceArray<double> partial(device, *stream, kNormPartials), norm(device, *stream, std::size_t{1});
  store_clipped_scale(*stream, state.get(), work, tested.growth_updates, partial.get(), norm.get());
  const StepState got = state.read()[0];
  double squares = 0.0;
  for (const float value : values) squares += double{value} * double{value};
  const double unscale = tested.scale / tested.before.loss_scale, wanted = unscale * std::sqrt(squares);
  const bool is_overflow = std::isinf(tested.first);
  worst.add("is_unsound", 0, got.is_unsound, is_overflow ? 1 : 0, 0.0);
  if (is_overflow) {
    worst.add("loss_scale", 0, got.loss_scale, tested.before.loss_scale / (tested.growth_updates > 0 ? 2 : 1), 0.0);
    worst.add("skipped", 0, static_cast<double>(got.skipped), tested.growth_updates > 0 ? 1 : 0, 0.0);
    return;
  }
  const double factor = tested.clip_norm > 0.0 ? std::min(tested.clip_norm / (wanted + 1e-6), 1.0) : 1.0;
  worst.add("norm", 0, norm.read()[0], wanted, 0x1p-40 * wanted);
  worst.add("scale", 0, got.scale, unscale * factor, 0x1p-23 * unscale * factor);
  const bool has_grown = tested.growth_updates > 0 && tested.before.good_updates + 1 == tested.growth_updates;
  worst.add("loss_scale", 0, got.loss_scale, tested.before.loss_scale * (has_grown ? 2.0 : 1.0), 0.0);
}

}  // namespace scale_testing

/// Checks the norm of a small and of a larger arena, clipping, and the loss scale after an overflow and after enough
/// updates without one.
[[nodiscard]] inline Worst check_scale(runtime::Device& device) {
  Worst worst;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t count : {7, 6001}) {
    for (const scale_testing::Case& tested :
         {scale_testing::Case{.scale = 0.5}, scale_testing::Case{.clip_norm = 0.1},
          scale_testing::Case{.clip_norm = 1e6}, scale_testing::Case{.first = kInfinity},
          scale_testing::Case{.growth_updates = 3, .before = {.loss_scale = 64.0, .good_updates = 2}},
          scale_testing::Case{.growth_updates = 3, .first = kInfinity, .before = {.loss_scale = 64.0}}}) {
      scale_testing::check_clip(device, count, tested, worst);
    }
  }
  return worst;
}

/// Checks the kernels that write single members of StepState. Other members must not change.
[[nodiscard]] inline Worst check_step_words(runtime::Device& device) {
  Worst worst;
  const auto stream = device.make_stream();
  const DeviceArray<StepState> state(device, *stream, std::vector{StepState{.is_unsound = 1}});
  const DeviceArray<float> losses(device, *stream, std::vector{0.5F, std::nanf(""), INFINITY});
  std::size_t number = 0;
  const auto expect = [&](const StepState& wanted) {
    const StepState got = state.read()[0];
    const double pairs[][2] = {{static_cast<double>(got.step), static_cast<double>(wanted.step)},
                               {got.scale, wanted.scale},
                               {static_cast<double>(got.is_unsound), static_cast<double>(wanted.is_unsound)},
                               {got.loss_scale, wanted.loss_scale},
                               {static_cast<double>(got.good_updates), static_cast<double>(wanted.good_updates)},
                               {static_cast<double>(got.skipped), static_cast<double>(wanted.skipped)}};
    for (const auto& [have, want] : pairs) worst.add("state", number, have, want, 0.0);
    ++number;
  };
  StepState wanted{.is_unsound = 1};
  store_step(*stream, state.get(), std::int64_t{1} << 40);
  expect((wanted.step = std::int64_t{1} << 40, wanted));
  forget_unsound(*stream, state.get());
  expect((wanted.is_unsound = 0, wanted));
  check_loss(*stream, state.get(), losses.get());
  expect(wanted);
  check_loss(*stream, state.get(), losses.get() + 1);
  expect((wanted.is_unsound = 1, wanted));
  forget_unsound(*stream, state.get());
  check_loss(*stream, state.get(), losses.get() + 2);
  expect(wanted);
  store_scale(*stream, state.get(), 0.125F);
  expect((wanted.scale = 0.125F, wanted));
  store_loss_scale(*stream, state.get(), {.scale = 256.0, .good_updates = 9, .skipped = 4});
  wanted.loss_scale = 256.0, wanted.good_updates = 9, wanted.skipped = 4;
  expect(wanted);
  return worst;
}

}  // namespace roentgen::engine::cuda
