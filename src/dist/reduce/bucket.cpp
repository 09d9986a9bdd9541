// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/reduce/bucket.h"

#include <algorithm>

namespace roentgen::dist {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::span<float> part(std::span<float> data, Share share) {
  return data.subspan(share.begin(data.size()), share.size(data.size()));
}

std::span<std::uint16_t> as_halves(std::span<std::byte> bytes) {
  return {reinterpret_cast<std::uint16_t*>(bytes.data()), bytes.size() / sizeof(std::uint16_t)};
}

bool is_same(Share a, Share b) { return a.index == b.index && a.count == b.count; }

// True if a message passes through the staging buffer instead of going directly from bucket to bucket.
bool is_staged(const ReducePlan& plan, const Round& round, bool is_received) {
  return plan.wire_of(round) != Wire::F32 || (is_received && round.carry == Carry::Parts);
}

}  // namespace

void ReduceSegment::begin(const ReducePlan& plan, std::span<float> data, Phase phase, int tag) {
  data_ = data;
  phase_ = phase;
  tag_ = tag;
  round_ = 0;
  start_round(plan);
}

bool ReduceSegment::step(const ReducePlan& plan) {
  for (; waiting_for_ < pending_.size(); ++waiting_for_) {
    if (!pending_[waiting_for_].is_done()) return false;
  }
  use(plan, plan.schedule.rounds[round_]);
  if (++round_ < plan.schedule.rounds.size()) start_round(plan);
  return true;
}

void ReduceSegment::forget() noexcept {
  for (Pending& each : pending_) each.forget();
  pending_.clear();
}

// Computes the offsets of receives, then of sends. A message that is sent to several ranks is stored once.
void ReduceSegment::lay_out(const ReducePlan& plan, const Round& round) {
  std::size_t end = 0;
  places_.clear();
  const auto add = [&](const Message& message, bool is_received) {
    const std::size_t bytes = wire_bytes(plan.wire_of(round), part(data_, message.share).size());
    places_.emplace_back(end, bytes);
    if (is_staged(plan, round, is_received)) end += aligned(bytes);
  };
  for (const Message& message : round.receives) add(message, true);
  for (std::size_t i = 0; i < round.sends.size(); ++i) {
    if (i > 0 && is_same(round.sends[i - 1].share, round.sends[i].share)) {
      places_.push_back(places_.back());
    } else {
      add(round.sends[i], false);
    }
  }
  if (staging_.size() < end) staging_.resize(end);
}

std::span<std::byte> ReduceSegment::staged(std::size_t place) {
  return std::span(staging_).subspan(places_[place].first, places_[place].second);
}

void ReduceSegment::start_round(const ReducePlan& plan) {
  const Round& round = plan.schedule.rounds[round_];
  lay_out(plan, round);
  pending_.clear();
  waiting_for_ = 0;
  for (std::size_t i = 0; i < round.receives.size(); ++i) {
    const std::span<float> dst = part(data_, round.receives[i].share);
    if (dst.empty()) continue;
    const auto bytes = is_staged(plan, round, true) ? staged(i) : std::as_writable_bytes(dst);
    pending_.push_back(plan.group.receive(bytes, {.rank = round.receives[i].peer, .tag = tag_}, phase_));
  }
  for (std::size_t i = 0; i < round.sends.size(); ++i) send(plan, round, i);
}

void ReduceSegment::send(const ReducePlan& plan, const Round& round, std::size_t at) {
  const std::span<float> src = part(data_, round.sends[at].share);
  if (src.empty()) return;
  std::span<const std::byte> bytes = std::as_bytes(src);
  if (is_staged(plan, round, false)) {
    const std::span<std::byte> place = staged(round.receives.size() + at);
    if (at == 0 || !is_same(round.sends[at - 1].share, round.sends[at].share))
      to_wire(plan.wire, src, as_halves(place));
    bytes = place;
  }
  pending_.push_back(plan.group.send(bytes, {.rank = round.sends[at].peer, .tag = tag_}, phase_));
}

void ReduceSegment::use(const ReducePlan& plan, const Round& round) {
  if (round.receives.empty()) return;
  if (round.carry == Carry::Parts) {
    sources_.clear();
    for (std::size_t i = 0; i < round.receives.size(); ++i) sources_.push_back(staged(i).data());
    sum_into(part(data_, round.receives.front().share), {.wire = plan.wire_of(round),
                                                         .sources = sources_,
                                                         .own_at = static_cast<std::size_t>(round.own_at),
                                                         .mean_factor = round.is_mean ? plan.mean_factor : 0.0F});
    return;
  }
  if (!is_staged(plan, round, true)) return;
  for (std::size_t i = 0; i < round.receives.size(); ++i) {
    from_wire(plan.wire, as_halves(staged(i)), part(data_, round.receives[i].share));
  }
}

ReduceBucket::~ReduceBucket() {
  for (ReduceSegment& segment : window_) segment.forget();
}

void ReduceBucket::fill(const ReducePlan& plan, std::span<float> data, Phase phase) {
  plan_ = &plan;
  data_ = data;
  phase_ = phase;
  first_ = begun_ = 0;
  is_free_ = false;
}

bool ReduceBucket::advance(int tag) {
  const std::size_t count = (data_.size() + plan_->segment - 1) / plan_->segment;
  while (move(count, tag)) {
  }
  is_free_ = first_ == count;
  return is_free_;
}

// Advances every segment of the window. Returns true if any has advanced.
bool ReduceBucket::move(std::size_t count, int tag) {
  bool has_moved = false;
  const std::size_t rounds = plan_->schedule.rounds.size();
  for (std::size_t i = first_; i < std::min(first_ + plan_->window, count); ++i) {
    ReduceSegment& segment = window_[i % kWindow];
    if (i == begun_) {
      const std::size_t begin = i * plan_->segment;
      segment.begin(*plan_, data_.subspan(begin, std::min(plan_->segment, data_.size() - begin)), phase_,
                    tag + static_cast<int>(i % kWindow));
      ++begun_;
      has_moved = true;
    }
    while (segment.round() < rounds && segment.step(*plan_)) has_moved = true;
  }
  while (first_ < begun_ && window_[first_ % kWindow].round() == rounds) ++first_;
  return has_moved;
}

}  // namespace roentgen::dist
