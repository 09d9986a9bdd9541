// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/servers/parameter_server.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>
#include <utility>

#include "core/error.h"
#include "dist/launch_board.h"
#include "dist/reduce/wire.h"
#include "train/servers/server_exchange.h"
#include "train/servers/shards.h"
#include "train/slowest_rank.h"

namespace roentgen::train {
namespace {

constexpr const char* kFromWorker = "gradients of worker";
constexpr const char* kToWorker = "weights for worker";

std::int64_t whole(double number) { return std::llround(number); }

LossCount count_of(const Request& request) {
  return {.batch_divisor = request.batch_divisor, .update_divisor = request.update_divisor};
}

}  // namespace

ParameterServer::ParameterServer(engine::Executable& executable, Optimizer& optimizer,
                                 std::vector<std::vector<engine::UpdateRange>> ranges,
                                 const ParameterServerOptions& options)
    : executable_(executable), optimizer_(optimizer), options_(options), ranges_(std::move(ranges)) {
  const std::vector<engine::Bucket>& buckets = executable.buckets();
  buckets_ = buckets_of(assign_buckets(buckets, options.servers.servers), options.index);
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    begins_.push_back(elements_);
    elements_ += static_cast<std::size_t>(place(i).count);
  }
  arrived_.resize(buckets_.size());
  workers_.resize(static_cast<std::size_t>(options.workers));
  busy_s_.resize(workers_.size());
  for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
    workers_[rank].rank = static_cast<int>(rank);
    workers_[rank].values.resize(elements_);
  }
  if (!options.servers.is_async()) weights_.resize(elements_);
  totals_.gradients = static_cast<double>(options.gradients);
}

const engine::Bucket& ParameterServer::place(std::size_t i) const {
  return executable_.buckets()[static_cast<std::size_t>(buckets_[i])];
}

std::span<float> ParameterServer::part(std::vector<float>& values, std::size_t i) const {
  return std::span(values).subspan(begins_[i], static_cast<std::size_t>(place(i).count));
}

void ParameterServer::serve(dist::Communicator& group) {
  const auto is_gone = [](const Worker& worker) { return worker.stage == Stage::Gone; };
  try {
    for (Worker& worker : workers_) expect(group, worker);
    while (!std::ranges::all_of(workers_, is_gone)) {
      bool has_moved = false;
      for (Worker& worker : workers_) has_moved |= advance(group, worker);
      if (has_moved) continue;
      check_limits();
      std::this_thread::yield();
    }
  } catch (...) {
    forget_all();
    throw;
  }
}

void ParameterServer::forget_all() noexcept {
  for (Worker& worker : workers_) {
    worker.asked.forget();
    for (dist::Pending& each : worker.receives) each.forget();
    for (dist::Pending& each : worker.sends) each.forget();
  }
}

void ParameterServer::expect(dist::Communicator& group, Worker& worker) {
  worker.since = Clock::now();
  worker.asked = group.receive(bytes_of(worker.request), {.rank = worker.rank, .tag = kRequestTag},
                               {.name = kFromWorker, .index = worker.rank});
}

bool ParameterServer::advance(dist::Communicator& group, Worker& worker) {
  bool has_moved = false;
  switch (worker.stage) {
    case Stage::Gone:
      return false;
    case Stage::Away:
    case Stage::Computes:
      if (!worker.asked.is_done()) return false;
      take_request(group, worker);
      return true;
    case Stage::Pushes:
      while (worker.received < worker.receives.size() && worker.receives[worker.received].is_done()) {
        has_moved = true;
        const std::size_t i = worker.received++;
        if (!options_.servers.is_async()) take_bucket(group, i);
      }
      if (worker.received < worker.receives.size()) return has_moved;
      worker.stage = Stage::Waits;
      if (options_.servers.is_async()) take_push(group, worker);
      return true;
    case Stage::Waits:
      while (worker.sent < worker.sends.size() && worker.sends[worker.sent].is_done()) ++worker.sent;
      if (!worker.is_answered || worker.sent < worker.sends.size()) return false;
      const bool is_away = !options_.servers.is_async() || worker.reply.is_stop_asked > 0.0 ||
                           worker.reply.gradients >= worker.request.until;
      worker.stage = is_away ? Stage::Away : Stage::Computes;
      expect(group, worker);
      return true;
  }
  return false;
}

void ParameterServer::take_request(dist::Communicator& group, Worker& worker) {
  worker.receives.clear();
  worker.received = 0;
  worker.sends.clear();
  worker.sent = 0;
  worker.is_answered = false;
  worker.since = Clock::now();
  switch (static_cast<Ask>(whole(worker.request.ask))) {
    case Ask::Push:
      if (!round_began_) round_began_ = worker.since;
      for (std::size_t i = 0; i < buckets_.size(); ++i) {
        worker.receives.push_back(group.receive(std::as_writable_bytes(part(worker.values, i)),
                                                {.rank = worker.rank, .tag = kGradientTag},
                                                {.name = kFromWorker, .index = worker.rank}));
      }
      worker.stage = Stage::Pushes;
      return;
    case Ask::Read:
      worker.stage = Stage::Waits;
      worker.request.until = 0.0;  // a worker reads weights at a meeting, so no push follows soon
      send_weights(group, worker);
      send_reply(group, worker);
      return;
    case Ask::State:
      worker.stage = Stage::Waits;
      worker.request.until = 0.0;
      send_state(group, worker);
      return;
    case Ask::End:
      worker.stage = Stage::Gone;
      return;
  }
}

void ParameterServer::apply_bucket(std::size_t i, std::span<const float> gradients, const Request& request,
                                   double factor) {
  executable_.gradients().upload(place(i).begin, gradients);
  const std::int64_t step = options_.servers.is_async() ? whole(totals_.gradients) : whole(request.step);
  optimizer_.apply({.ranges = ranges_[static_cast<std::size_t>(buckets_[i])],
                    .lr = request.lr,
                    .step = step + 1,
                    .scale = request.scale * factor},
                   executable_.gradients());
}

double ParameterServer::loss_factor() const {
  LossCount count;
  for (const Worker& worker : workers_) count += count_of(worker.request);
  return count.factor();
}

void ParameterServer::sum_bucket(std::size_t i) {
  sources_.clear();
  for (Worker& worker : std::span(workers_).subspan(1)) {
    sources_.push_back(std::as_bytes(part(worker.values, i)).data());
  }
  dist::sum_into(part(workers_.front().values, i),
                 {.sources = sources_, .mean_factor = 1.0F / static_cast<float>(options_.workers)});
}

void ParameterServer::take_bucket(dist::Communicator& group, std::size_t i) {
  if (++arrived_[i] < options_.workers) return;
  sum_bucket(i);
  const bool is_last = i + 1 == buckets_.size();
  if (is_clipped()) {
    if (is_last) apply_clipped(group);
  } else {
    const Request& request = workers_.front().request;
    if (i == 0) {
      dist::reach({.name = "server update"}, whole(request.step));
      executable_.begin_update();
    }
    const auto is_finite = [](const Worker& worker) { return worker.request.is_finite > 0.0; };
    if (std::ranges::all_of(workers_, is_finite)) {
      apply_bucket(i, part(workers_.front().values, i), request, loss_factor());
    }
    answer_all(group, i);
  }
  if (is_last) end_round(group);
}

void ParameterServer::apply_clipped(dist::Communicator& group) {
  const Request& request = workers_.front().request;
  dist::reach({.name = "server update"}, whole(request.step));
  executable_.begin_update();
  std::vector<double> squares(static_cast<std::size_t>(options_.servers.servers));
  const double own = sum_of_squares(std::span(workers_.front().values).first(elements_));
  group
      .all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(squares)),
                  {.name = "gradient norm", .index = whole(request.step)})
      .wait(options_.limit);
  const double factor = loss_factor(), scale = request.scale * factor;
  const double sum = std::accumulate(squares.begin(), squares.end(), 0.0) * scale * scale;
  const ClipFactor clip = clip_factor(sum, options_.clip_norm);
  totals_.norm = clip.norm;
  const auto is_finite = [](const Worker& worker) { return worker.request.is_finite > 0.0; };
  const bool is_sound = std::isfinite(clip.norm) && std::ranges::all_of(workers_, is_finite);
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (is_sound) apply_bucket(i, part(workers_.front().values, i), request, clip.factor * factor);
    answer_all(group, i);
  }
}

void ParameterServer::answer_all(dist::Communicator& group, std::size_t i) {
  const std::span<float> weights = part(weights_, i);
  std::as_const(executable_).parameters().download(place(i).begin, weights);
  for (Worker& worker : workers_) send(group, worker, std::as_bytes(weights), kWeightsTag);
}

void ParameterServer::end_round(dist::Communicator& group) {
  std::ranges::fill(arrived_, 0);
  round_began_.reset();
  totals_.gradients += options_.workers;
  totals_.applied += 1.0;
  if (options_.is_stop_asked && options_.is_stop_asked()) totals_.is_stop_asked = 1.0;
  for (const Worker& worker : workers_) totals_.images += worker.request.images;
  for (Worker& worker : workers_) send_reply(group, worker);
}

void ParameterServer::take_push(dist::Communicator& group, Worker& worker) {
  dist::reach({.name = "server update"}, whole(totals_.gradients));
  const double staleness = totals_.applied - static_cast<double>(worker.read_version);
  if (staleness > static_cast<double>(options_.servers.staleness)) {
    totals_.dropped += 1.0;
  } else {
    executable_.begin_update();
    Request damped = worker.request;
    damped.lr *= late_rate(staleness, options_.workers);
    const double factor = count_of(damped).factor();
    for (std::size_t i = 0; i < buckets_.size(); ++i) apply_bucket(i, part(worker.values, i), damped, factor);
    totals_.applied += 1.0;
    totals_.staleness_sum += staleness;
    totals_.staleness_max = std::max(totals_.staleness_max, staleness);
  }
  totals_.staleness = staleness;
  totals_.gradients += 1.0;
  totals_.images += worker.request.images;
  if (worker.request.is_stop_asked > 0.0 || (options_.is_stop_asked && options_.is_stop_asked())) {
    totals_.is_stop_asked = 1.0;
  }
  compare_workers(worker);
  send_weights(group, worker);
  send_reply(group, worker);
}

void ParameterServer::compare_workers(const Worker& worker) {
  busy_s_[static_cast<std::size_t>(worker.rank)] = static_cast<float>(worker.request.busy_s);
  if (std::ranges::find(busy_s_, 0.0F) != busy_s_.end()) return;
  const SlowestRank slowest = slowest_of(busy_s_);
  totals_.slowest = slowest.rank;
  totals_.imbalance = slowest.imbalance;
}

void ParameterServer::send(dist::Communicator& group, Worker& worker, std::span<const std::byte> bytes, int tag) {
  worker.since = Clock::now();
  worker.sends.push_back(
      group.send(bytes, {.rank = worker.rank, .tag = tag}, {.name = kToWorker, .index = worker.rank}));
}

void ParameterServer::send_reply(dist::Communicator& group, Worker& worker) {
  worker.reply = totals_;
  send(group, worker, bytes_of(worker.reply), kReplyTag);
  worker.is_answered = true;
}

void ParameterServer::send_weights(dist::Communicator& group, Worker& worker) {
  worker.read_version = whole(totals_.applied);
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const std::span<float> weights = part(worker.values, i);
    std::as_const(executable_).parameters().download(place(i).begin, weights);
    send(group, worker, std::as_bytes(weights), kWeightsTag);
  }
}

void ParameterServer::send_state(dist::Communicator& group, Worker& worker) {
  const std::vector<OptimizerState> states = optimizer_.state();
  worker.values.resize(elements_ * std::max<std::size_t>(states.size(), 1));
  for (std::size_t k = 0; k < states.size(); ++k) {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      const auto count = static_cast<std::size_t>(place(i).count);
      const std::span<float> values = std::span(worker.values).subspan(k * elements_ + begins_[i], count);
      states[k].arena.download(place(i).begin, values);
      send(group, worker, std::as_bytes(values), kWeightsTag);
    }
  }
  worker.is_answered = true;
}

void ParameterServer::check_limits() {
  const auto now = Clock::now();
  const auto is_late = [&](Clock::time_point since) { return now - since > options_.limit; };
  const bool is_async = options_.servers.is_async();
  for (Worker& worker : workers_) {
    const bool is_sending = worker.stage == Stage::Waits && worker.sent < worker.sends.size();
    if (is_sending && is_late(worker.since)) give_up(worker);
    if (is_async && (worker.stage == Stage::Computes || worker.stage == Stage::Pushes) && is_late(worker.since)) {
      give_up(worker);
    }
    const bool is_awaited = worker.stage == Stage::Away || worker.stage == Stage::Pushes;
    if (!is_async && round_began_ && is_late(*round_began_) && is_awaited) give_up(worker);
  }
}

void ParameterServer::give_up(Worker& worker) {
  if (worker.stage == Stage::Waits) worker.sends[worker.sent].give_up(options_.limit);
  if (worker.stage == Stage::Pushes) worker.receives[worker.received].give_up(options_.limit);
  worker.asked.give_up(options_.limit);
}

}  // namespace roentgen::train
