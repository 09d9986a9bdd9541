// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/stepper.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <utility>

#include "core/error.h"
#include "core/plural.h"
#include "core/timeline.h"
#include "dist/comm_thread.h"
#include "dist/launch_board.h"
#include "dist/nccl_averages.h"

namespace roentgen::train {
namespace {

using Clock = std::chrono::steady_clock;
// Number of updates until the CUDA engine has recorded all its graphs: it records the second use of each of two copies
// of a batch.
constexpr int kUpdatesToRecord = 4;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void require_finite(double value, std::string_view what, std::int64_t step) {
  if (std::isfinite(value)) return;
  throw DataError(error_text("train.step", fmt::format("step {}", step + 1), "a finite " + std::string(what),
                             fmt::to_string(value), "a lower optimizer.lr, a longer warm-up or train.clip_norm"));
}

// Throws DataError if the loss scale is below 1: gradients that overflow even then will not recover.
void require_sound(const engine::LossScale& scale, std::int64_t step) {
  if (scale.scale >= 1.0) return;
  throw DataError(
      error_text("train.step", fmt::format("step {}", step + 1), "a loss scale of at least 1",
                 fmt::format("{}, after {} skipped by overflow", scale.scale, counted(scale.skipped, "update")),
                 "train.dtype=bf16, a lower optimizer.lr or a longer warm-up"));
}

// Number of ranks that make an update together.
std::int64_t partners(const StepperOptions& options) {
  return options.group == nullptr || options.servers.is_async() ? 1 : options.group->size();
}

void add_slowest(const SlowestRank& slowest, StepRecord& record) {
  record.imbalance = slowest.imbalance;
  record.slowest_rank = slowest.rank;
}

}  // namespace

std::vector<engine::UpdateRange> update_ranges(const engine::Executable& executable, const StepperOptions& options,
                                               bool is_layerwise) {
  std::vector<engine::ParameterSlice> slices = executable.slices();
  std::sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<engine::UpdateRange> ranges;
  for (const engine::ParameterSlice& slice : slices) {
    const bool is_weight = executable.graph().parameter(slice.parameter).role == graph::Role::Weight;
    const double decay = is_weight || options.decays_norm_and_bias ? options.weight_decay : 0.0;
    const bool is_layer = is_layerwise && is_weight;
    const bool continues = !ranges.empty() && !is_layer && !ranges.back().is_layer &&
                           ranges.back().weight_decay == decay &&
                           ranges.back().begin + ranges.back().count == slice.begin;
    if (continues) {
      ranges.back().count += slice.count;
    } else {
      ranges.push_back({.begin = slice.begin, .count = slice.count, .weight_decay = decay, .is_layer = is_layer});
    }
  }
  return ranges;
}

Stepper::Stepper(engine::Executable& executable, StepperOptions options)
    : executable_(executable),
      options_(std::move(options)),
      optimizer_(options_.optimizer, options_.rules, executable),
      scales_loss_(executable.read_loss_scale().has_value()),
      is_norm_late_(executable.gradients().device().copies != nullptr),
      ranges_(update_ranges(executable, options_, optimizer_.is_layerwise())),
      weight_(executable, options_.accumulate * partners(options_)) {
  if (options_.accumulate > 1) total_ = executable.make_arena(engine::ArenaKind::Trained);
  if (options_.group == nullptr) return;
  if (options_.servers.has_servers()) {
    servers_ = std::make_unique<ServerExchange>(*options_.group, executable, options_.servers, options_.timeline);
  } else if (options_.group->size() == 1 && !options_.group->is_nccl_asked()) {
    return;
  }
  join(options_.servers.has_servers() ? 0 : options_.bucket_bytes);
  if (!options_.servers.is_async()) {
    // Gradients for servers are sent from host memory.
    dist::GradientDevice device{.device = executable.memory_device(),
                                .id = options_.device_id,
                                .is_host = servers_ || executable.gradients().device().copies == nullptr,
                                .kernels = executable.wire_kernels()};
    for (const SentBucket& bucket : sent_) {
      device.most_values = std::max(device.most_values, static_cast<std::size_t>(bucket.place.count));
    }
    if (options_.make_nccl) device.make_nccl = options_.make_nccl;
    exchange_ = std::make_unique<GradientExchange>(*options_.group, device, std::ssize(sent_), options_.timeline);
  }
  ready_.resize(executable.buckets().size());
  if (exchange_ && exchange_->is_on_device()) warm_up();
}

void Stepper::warm_up() {
  if (options_.group->shares_process()) serial_updates_ = kUpdatesToRecord;
  // An engine allocates for ranges at their first use. Copying gradients onto themselves changes nothing.
  engine::Arena& arena = total_ ? *total_ : executable_.gradients();
  const runtime::Event* ready = nullptr;
  const auto prepare = [&](std::span<const engine::UpdateRange> ranges) {
    ready =
        &executable_.update(engine::Accumulate{.is_first = true}, {.target = arena, .source = arena, .ranges = ranges});
  };
  for (const engine::Bucket& bucket : executable_.buckets()) {
    const engine::UpdateRange range{.begin = bucket.begin, .count = bucket.count};
    if (total_) prepare({&range, 1});
  }
  for (const auto& ranges : bucket_ranges_) prepare(ranges);
  prepare(ranges_);
  std::vector<runtime::DeviceSpan<float>> spans;
  for (const SentBucket& bucket : sent_) spans.push_back(gradients().device(bucket.place));
  exchange_->warm_up(spans, *ready);
}

void Stepper::join(std::size_t bytes) {
  sent_ = join_buckets(executable_.buckets(), bytes);
  std::vector<engine::Bucket> places;
  for (const SentBucket& bucket : sent_) places.push_back(bucket.place);
  bucket_ranges_ = ranges_by_bucket(ranges_, places);
}

void Stepper::set_bucket_bytes(std::size_t bytes) {
  RG_ASSERT(has_free_bucket_size());
  join(bytes);
}

bool Stepper::has_free_bucket_size() const {
  return exchange_ && !servers_ && !exchange_->is_on_device() && options_.group->size() > 1 &&
         options_.group->is_free_of_bucket_size();
}

std::optional<data::Batch> Stepper::next_batch(data::BatchSource& batches) const {
  const TimedScope scope(options_.timeline, "input");
  return batches.next();
}

void Stepper::run_batch(data::BatchSource& batches, std::int64_t i, StepRecord& record) {
  const auto start = Clock::now();
  dist::reach({.name = "input"}, record.step);
  const std::optional<data::Batch> batch = next_batch(batches);
  RG_ASSERT(batch.has_value());
  record.data_wait_seconds += seconds_since(start);
  record.images += batch->valid;
  count_ += weight_.of(batch->slot);
  executable_.bind_slot(batch->slot);
  executable_.set_step(record.step * options_.accumulate + i);
  dist::reach({.name = "forward"}, record.step);
  {
    const TimedScope scope(options_.timeline, "forward");
    executable_.forward();
  }
  const bool is_last = i + 1 == options_.accumulate;
  sent_count_ = 0;
  if (exchange_ && is_last) exchange_->begin();
  // If the device averages, the report is sent after backward, so that the host need not wait for the loss before it.
  const bool is_report_late = exchange_ && exchange_->is_on_device();
  if (has_partners() && is_last && !is_report_late) add_loss(record);
  if (is_last && pushes_early()) begin_push(record, 1.0);
  if (exchange_ && is_last && !is_report_late) report(record);
  {
    const TimedScope scope(options_.timeline, "backward");
    const auto on_bucket = [&](std::int64_t bucket, const runtime::Event& ready) {
      dist::reach({.name = "gradient bucket", .index = bucket}, record.step);
      take_bucket(bucket, ready, i);
    };
    // Without a reader of single buckets, a device runs the backward as one piece. std::cref avoids a heap allocation
    // for the captures.
    const bool is_read = has_partners() || total_;
    executable_.backward(is_read ? engine::BucketCallback(std::cref(on_bucket)) : engine::BucketCallback());
  }
  if (!is_last) add_loss(record);
  if (servers_ && is_last && !pushes_early()) push_late(record);
  if (exchange_ && !servers_ && is_last && !options_.is_overlapped && serial_updates_ == 0) send_all();
  if (is_last && is_report_late) {
    add_loss(record);
    report(record);
  }
  if (options_.on_batch) options_.on_batch(batch->samples);
  batches.release(batch->slot);
}

void Stepper::report(const StepRecord& record) {
  exchange_->tell({.loss = record.loss,
                   .images = record.images,
                   .count = count_,
                   .is_stop_asked = options_.is_stop_asked && options_.is_stop_asked(),
                   .busy_s = busy_s_});
}

void Stepper::settle() {
  if (exchange_) exchange_->settle();
  read_late_norm();
}

void Stepper::read_late_norm() {
  if (!late_norm_step_) return;
  const std::int64_t step = *std::exchange(late_norm_step_, std::nullopt);
  late_norm_ = sound_norm(step);
}

std::optional<double> Stepper::sound_norm(std::int64_t step) const {
  const double norm = executable_.read_norm();
  if (scales_loss_ && !std::isfinite(norm)) return std::nullopt;  // overflow: the engine skipped the update
  require_finite(norm, "gradient norm", step);
  return norm;
}

void Stepper::add_loss(StepRecord& record) const {
  record.loss += static_cast<double>(executable_.read("loss")[0]) / static_cast<double>(options_.accumulate);
  if (const std::optional<engine::LossScale> scale = executable_.loss_scale()) {
    record.loss_scale = scale->scale;
    require_sound(*scale, record.step);
  }
}

void Stepper::take_bucket(std::int64_t bucket, const runtime::Event& ready, std::int64_t i) {
  const engine::Bucket& place = executable_.buckets()[static_cast<std::size_t>(bucket)];
  const runtime::Event* last = &ready;
  if (total_) {
    const engine::UpdateRange range{.begin = place.begin, .count = place.count};
    last = &executable_.update(engine::Accumulate{.is_first = i == 0},
                               {.target = *total_, .source = executable_.gradients(), .ranges = {&range, 1}});
  }
  if (!has_partners() || i + 1 < options_.accumulate) return;
  ready_[static_cast<std::size_t>(bucket)] = last;
  if (!(servers_ ? pushes_early() : averages_early())) return;
  if (sent_[sent_count_].last == bucket) send(sent_count_);
}

void Stepper::send(std::size_t at) {
  const runtime::DeviceSpan<float> own = gradients().device(sent_[at].place);
  const runtime::Event& ready = *ready_[static_cast<std::size_t>(sent_[at].last)];
  const auto bucket = static_cast<std::int64_t>(at);
  ++sent_count_;
  if (servers_) return servers_->send(bucket, own, ready);
  exchange_->send(bucket, own, ready);
}

void Stepper::send_all() {
  while (sent_count_ < sent_.size()) send(sent_count_);
}

bool Stepper::pushes_early() const {
  const bool is_late = options_.servers.is_async() && options_.clip_norm > 0.0;
  return servers_ && options_.is_overlapped && !is_late;
}

void Stepper::begin_push(const StepRecord& record, double clip_factor) {
  if (options_.servers.is_async()) require_finite(record.loss, "loss", record.step);
  servers_->begin({.lr = record.lr,
                   .step = record.step,
                   .scale = batch_scale() * clip_factor,
                   .count = count_,
                   .images = record.images,
                   .is_finite = std::isfinite(record.loss),
                   .is_stop_asked = options_.is_stop_asked && options_.is_stop_asked(),
                   .busy_s = busy_s_});
}

void Stepper::push_late(StepRecord& record) {
  double factor = 1.0;
  if (options_.servers.is_async() && options_.clip_norm > 0.0) {
    for (const runtime::Event* ready : ready_) ready->wait();
    const double scale = batch_scale() * count_.factor();
    const ClipFactor clip = clip_factor(sum_of_squares(gradients().values()) * scale * scale, options_.clip_norm);
    require_finite(clip.norm, "gradient norm", record.step);
    record.gradient_norm = clip.norm;
    factor = clip.factor;
  }
  begin_push(record, factor);
  send_all();
}

void Stepper::finish_with_servers(StepRecord& record) {
  if (exchange_) add_group_report(record);
  for (const runtime::Event* ready : ready_)
    ready->wait();  // new weights must not arrive while backward reads the old weights
  servers_->finish();
  const Reply& reply = servers_->reply();
  if (options_.servers.is_async()) {
    record.images = servers_->images();
    record.staleness = servers_->staleness();
    record.loss *= count_.factor();
    add_slowest(servers_->slowest(), record);
  }
  if (!exchange_) return;
  is_stop_asked_ = is_stop_asked_ || reply.is_stop_asked > 0.0;
  require_finite(record.loss, "loss", record.step);
  if (options_.clip_norm <= 0.0) return;
  require_finite(reply.norm, "gradient norm", record.step);
  record.gradient_norm = reply.norm;
}

void Stepper::add_group_report(StepRecord& record) {
  const GroupReport group = exchange_->report();
  count_ = group.count;
  record.loss = group.loss * count_.factor();
  record.images = group.images;
  add_slowest(group.slowest, record);
  is_stop_asked_ = group.is_stop_asked;
}

void Stepper::apply(std::span<const engine::UpdateRange> ranges, const StepRecord& record, double clip_norm,
                    const runtime::Event* after) {
  const TimedScope scope(options_.timeline, "optimizer");
  optimizer_.apply({.ranges = ranges,
                    .lr = record.lr,
                    .step = record.step + 1,
                    .scale = batch_scale() * count_.factor(),
                    .clip_norm = clip_norm,
                    .after = after},
                   gradients());
}

void Stepper::apply_all(StepRecord& record, const runtime::Event* after) {
  read_late_norm();  // before the next norm overwrites it
  apply(ranges_, record, options_.clip_norm, after);
  if (!exchange_) {
    add_loss(record);
    record.loss *= count_.factor();
  }
  require_finite(record.loss, "loss", record.step);
  if (options_.clip_norm <= 0.0) return;
  if (is_norm_late_) {
    record.gradient_norm = std::exchange(late_norm_, std::nullopt);
    late_norm_step_ = record.step;
  } else {
    record.gradient_norm = sound_norm(record.step);
  }
}

void Stepper::finish_with_group(StepRecord& record) {
  add_group_report(record);
  if (serial_updates_ > 0) {  // the report shows that all ranks have recorded their work
    send_all();
    exchange_->settle();
    --serial_updates_;
  }
  // A loss scale needs the norm, too, to detect overflows.
  const bool must_know_norm = options_.clip_norm > 0.0 || scales_loss_;
  const bool is_at_once = !must_know_norm && std::isfinite(record.loss);
  const runtime::Event* last = nullptr;
  for (AveragedBucket next = exchange_->wait_next(); next.bucket >= 0; next = exchange_->wait_next()) {
    if (is_at_once) apply(bucket_ranges_[static_cast<std::size_t>(next.bucket)], record, 0.0, next.after);
    last = next.after;  // buckets are averaged in order, so this event covers all earlier ones
  }
  require_finite(record.loss, "loss", record.step);
  if (must_know_norm) apply_all(record, last);
}

StepRecord Stepper::update(data::BatchSource& batches, std::int64_t step, double lr) {
  const TimedScope scope(options_.timeline, "step", step + 1);
  const auto start = Clock::now();
  StepRecord record{.step = step, .lr = lr};
  // If a device averages, an update also counts averages that ended between the previous update and this one.
  if (has_partners() && (!exposed_s_ || options_.group->device_way().empty())) exposed_s_ = options_.group->exposed_s();
  executable_.begin_update();
  count_ = {};
  for (std::int64_t i = 0; i < options_.accumulate; ++i) run_batch(batches, i, record);
  dist::reach({.name = "optimizer"}, step);
  if (has_partners()) {
    if (servers_) {
      finish_with_servers(record);
    } else {
      finish_with_group(record);
    }
    const double exposed_s = options_.group->exposed_s();
    record.comm_exposed_seconds = exposed_s - exposed_s_.value_or(0.0);
    exposed_s_ = exposed_s;
  } else {
    apply_all(record);
  }
  record.step = step + 1;
  record.seconds = seconds_since(start);
  // If a device averages, the exposed time belongs to an earlier update and may exceed the time of this one.
  busy_s_ = std::max(0.0, record.seconds - record.comm_exposed_seconds.value_or(0.0));
  return record;
}

}  // namespace roentgen::train
