// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/servers/server_exchange.h"

#include <chrono>
#include <cmath>

#include "core/error.h"
#include "core/timeline.h"
#include "dist/comm_thread.h"
#include "train/optimizer/optimizer.h"
#include "train/servers/shards.h"

namespace roentgen::train {
namespace {

// Extra timeout for replies to synchronous updates. Servers also wait for workers and know which worker is missing, so
// they should report a timeout first.
constexpr std::chrono::milliseconds kServerSpeaksFirst{2000};

// Returns the (negative) extra timeout of other replies. They depend on no worker, but other workers may wait for this
// one, so this worker should report a timeout first.
std::chrono::milliseconds speak_first(const dist::CommThread& group) { return -group.limit() / 4; }

}  // namespace

ServerExchange::ServerExchange(dist::CommThread& group, engine::Executable& executable, const ServerOptions& options,
                               Timeline* timeline)
    : group_(group),
      executable_(executable),
      options_(options),
      timeline_(timeline),
      servers_(assign_buckets(executable.buckets(), options.servers)),
      replies_(static_cast<std::size_t>(options.servers)) {}

ServerExchange::~ServerExchange() {
  if (is_under_way_) static_cast<void>(group_.fail());
}

int ServerExchange::rank_of(std::int64_t bucket) const {
  return group_.size() + servers_[static_cast<std::size_t>(bucket)];
}

void ServerExchange::greet(const std::string& greeting, Optimizer& optimizer) {
  std::vector<std::string> texts;
  group_.call([&](dist::Communicator& communicator) {
    const auto send = [&](std::span<const std::byte> bytes, int server) {
      communicator.send(bytes, {.rank = group_.size() + server, .tag = kGreetingTag}, {.name = "greeting"})
          .wait(group_.limit());
    };
    std::vector<float> values;
    for (int server = 0; server < options_.servers; ++server) {
      const std::uint64_t size = greeting.size();
      send(std::as_bytes(std::span(&size, 1)), server);
      send(std::as_bytes(std::span(greeting)), server);
      const auto send_arena = [&](const engine::Arena& arena) {
        for (const std::int64_t bucket : buckets_of(servers_, server)) {
          const engine::Bucket& place = executable_.buckets()[static_cast<std::size_t>(bucket)];
          values.resize(static_cast<std::size_t>(place.count));
          arena.download(place.begin, values);
          send(std::as_bytes(std::span(values)), server);
        }
      };
      send_arena(executable_.parameters());
      for (const OptimizerState& state : optimizer.state()) send_arena(state.arena);
    }
  });
}

void ServerExchange::ask_all(const Request& request) {
  request_ = request;
  for (int server = 0; server < options_.servers; ++server) {
    tickets_.push_back(group_.send(bytes_of(request_), {.rank = group_.size() + server, .tag = kRequestTag},
                                   {.name = kPushPhase, .index = server}));
  }
}

void ServerExchange::begin(const Push& push) {
  tickets_.clear();
  is_under_way_ = true;
  ask_all({.ask = static_cast<double>(Ask::Push),
           .lr = push.lr,
           .step = static_cast<double>(push.step),
           .scale = push.scale,
           .batch_divisor = push.count.batch_divisor,
           .update_divisor = push.count.update_divisor,
           .images = static_cast<double>(push.images),
           .is_finite = push.is_finite ? 1.0 : 0.0,
           .is_stop_asked = push.is_stop_asked ? 1.0 : 0.0,
           .until = static_cast<double>(until_),
           .busy_s = push.busy_s});
}

void ServerExchange::send(std::int64_t bucket, runtime::DeviceSpan<float> gradients, const runtime::Event& ready) {
  tickets_.push_back(group_.send(gradients, ready, {.rank = rank_of(bucket), .tag = kGradientTag},
                                 {.name = kPushPhase, .index = servers_[static_cast<std::size_t>(bucket)]}));
}

void ServerExchange::receive(const engine::Arena& arena, std::int64_t bucket, const char* phase,
                             std::chrono::milliseconds more) {
  const auto at = static_cast<std::size_t>(bucket);
  tickets_.push_back(group_.receive(arena.device(executable_.buckets()[at]),
                                    {.rank = rank_of(bucket), .tag = kWeightsTag},
                                    {.name = phase, .index = servers_[at]}, more));
}

void ServerExchange::wait_all(const char* what) {
  const TimedScope waiting(timeline_, what);
  for (const std::int64_t ticket : tickets_) group_.wait(ticket);
  tickets_.clear();
  is_under_way_ = false;
}

void ServerExchange::take_replies(std::chrono::milliseconds more) {
  for (int server = 0; server < options_.servers; ++server) {
    tickets_.push_back(group_.receive(bytes_of(replies_[static_cast<std::size_t>(server)]),
                                      {.rank = group_.size() + server, .tag = kReplyTag},
                                      {.name = kPullPhase, .index = server}, more));
  }
  const engine::Arena& weights = executable_.parameters();
  for (std::int64_t bucket = 0; bucket < std::ssize(servers_); ++bucket) receive(weights, bucket, kPullPhase, more);
  wait_all("wait for servers");
  const double images = reply_.images;
  reply_ = replies_.front();
  images_ = std::llround(reply_.images - images);
  for (const Reply& reply : replies_) reply_.is_stop_asked = std::max(reply_.is_stop_asked, reply.is_stop_asked);
}

void ServerExchange::finish() {
  take_replies(options_.is_async() ? speak_first(group_) : kServerSpeaksFirst);
  if (!options_.is_async()) return;
  const bool is_dropped = reply_.staleness > static_cast<double>(options_.staleness);  // of this worker's gradient
  ++(is_dropped ? own_gradients_.dropped : own_gradients_.applied);
}

SlowestRank ServerExchange::slowest() const {
  return {.rank = static_cast<int>(std::llround(reply_.slowest)), .imbalance = reply_.imbalance};
}

StalenessRecord ServerExchange::staleness() const {
  return {.applied = std::llround(reply_.applied),
          .dropped = std::llround(reply_.dropped),
          .mean = reply_.applied > 0.0 ? reply_.staleness_sum / reply_.applied : 0.0,
          .max = std::llround(reply_.staleness_max)};
}

bool ServerExchange::is_at_meeting() const {
  return reply_.is_stop_asked > 0.0 || reply_.gradients >= static_cast<double>(until_);
}

void ServerExchange::read_weights() {
  is_under_way_ = true;
  ask_all({.ask = static_cast<double>(Ask::Read)});
  take_replies(speak_first(group_));
}

void ServerExchange::read_state(Optimizer& optimizer) {
  is_under_way_ = true;
  ask_all({.ask = static_cast<double>(Ask::State)});
  for (const OptimizerState& state : optimizer.state()) {
    for (std::int64_t bucket = 0; bucket < std::ssize(servers_); ++bucket)
      receive(state.arena, bucket, kStatePhase, speak_first(group_));
  }
  wait_all("wait for optimizer state");
}

void ServerExchange::end() {
  is_under_way_ = true;
  ask_all({.ask = static_cast<double>(Ask::End)});
  wait_all("leave of servers");
}

ClipFactor clip_factor(double squares, double clip_norm) {
  const double norm = std::sqrt(squares);
  constexpr double kTiny = 1e-6;  // as torch.nn.utils.clip_grad_norm_
  return {.factor = std::min(1.0, clip_norm / (norm + kTiny)), .norm = norm};
}

double sum_of_squares(std::span<const float> values) {
  double sum = 0.0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

}  // namespace roentgen::train
