// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/stepper.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/error.h"
#include "train/optimizer/flat.h"

namespace roentgen::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void require_finite(double value, std::string_view what, std::int64_t step) {
  if (std::isfinite(value)) return;
  throw DataError(error_text("train.step", fmt::format("step {}", step + 1), "a finite " + std::string(what),
                             fmt::to_string(value), "a lower optimizer.lr, a longer warm-up or train.clip_norm"));
}

}  // namespace

std::vector<UpdateRange> update_ranges(const engine::Executable& executable, const StepperOptions& options) {
  std::vector<engine::ParameterSlice> slices = executable.slices();
  std::sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<UpdateRange> ranges;
  for (const engine::ParameterSlice& slice : slices) {
    const bool is_weight = executable.graph().parameter(slice.parameter).role == graph::Role::Weight;
    const double decay = is_weight || options.decays_norm_and_bias ? options.weight_decay : 0.0;
    const bool continues = !ranges.empty() && ranges.back().weight_decay == decay &&
                           ranges.back().begin + ranges.back().count == slice.begin;
    if (continues) {
      ranges.back().count += slice.count;
    } else {
      ranges.push_back({.begin = slice.begin, .count = slice.count, .weight_decay = decay});
    }
  }
  return ranges;
}

Stepper::Stepper(engine::Executable& executable, StepperOptions options)
    : executable_(executable),
      options_(std::move(options)),
      optimizer_(make_optimizer(options_.optimizer, options_.optimizer_options,
                                static_cast<std::int64_t>(executable.parameters().size()))),
      ranges_(update_ranges(executable, options_)) {
  if (options_.accumulate > 1) total_.resize(executable.gradients().size());
}

void Stepper::run_batch(data::Loader& loader, std::int64_t batch_number, StepRecord& record) {
  const auto start = Clock::now();
  const std::optional<data::Batch> batch = loader.next();
  RG_ASSERT(batch.has_value());
  record.data_wait_seconds += seconds_since(start);
  record.images += batch->valid;
  executable_.bind_slot(batch->slot);
  executable_.set_step(batch_number);
  executable_.forward();
  const auto loss = static_cast<double>(executable_.output("loss")[0]);
  require_finite(loss, "loss", record.step);
  record.loss += loss / static_cast<double>(options_.accumulate);
  executable_.backward([](std::int64_t) {});
  if (options_.on_batch) options_.on_batch(batch->samples);
  loader.release(batch->slot);
}

double Stepper::gradient_scale(std::span<const float> gradients, StepRecord& record) const {
  const double mean = 1.0 / static_cast<double>(options_.accumulate);
  if (options_.clip_norm <= 0.0) return mean;
  // Elements outside the slices are zero by the engine's contract, so the whole arena may be summed.
  const double norm = mean * std::sqrt(sum_of_squares(gradients, options_.optimizer_options.threads));
  require_finite(norm, "gradient norm", record.step);
  record.gradient_norm = norm;
  return mean * std::min(1.0, options_.clip_norm / (norm + 1e-6));
}

StepRecord Stepper::update(data::Loader& loader, std::int64_t step, double lr) {
  const auto start = Clock::now();
  const int threads = options_.optimizer_options.threads;
  StepRecord record{.step = step, .lr = lr};
  for (std::int64_t i = 0; i < options_.accumulate; ++i) {
    run_batch(loader, step * options_.accumulate + i, record);
    if (total_.empty()) continue;
    if (i == 0) {
      std::copy(executable_.gradients().begin(), executable_.gradients().end(), total_.begin());
    } else {
      accumulate(total_, executable_.gradients(), threads);
    }
  }
  const std::span<const float> gradients = total_.empty() ? executable_.gradients() : std::span<float>(total_);
  const double scale = gradient_scale(gradients, record);
  optimizer_->apply({.parameters = executable_.parameters(),
                     .gradients = gradients,
                     .ranges = ranges_,
                     .lr = lr,
                     .step = step + 1,
                     .gradient_scale = scale});
  record.step = step + 1;
  record.seconds = seconds_since(start);
  return record;
}

}  // namespace roentgen::train
