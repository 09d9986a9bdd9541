// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ParameterServer: owns a shard of the weights and the optimizer's state, and updates it by the gradients of workers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dist/communicator.h"
#include "engine/engine.h"
#include "train/optimizer/optimizer.h"
#include "train/servers/server_messages.h"
#include "train/servers/server_options.h"

namespace roentgen::train {

/// Part of the job that a server is told.
struct ParameterServerOptions {
  ServerOptions servers;
  int index = 0;                             ///< of this server, from 0
  int workers = 1;                           ///< ranks 0 to workers - 1
  double clip_norm = 0.0;                    ///< ps: StepperOptions::clip_norm
  std::int64_t gradients = 0;                ///< taken before this start
  std::chrono::milliseconds limit{300'000};  ///< of waits for a rank that others wait for
  std::function<bool()> is_stop_asked{};     ///< asked once an update; may be empty
};

/// One server's shard and its loop. One thread, that of the communicator. Sums and updates of a synchronous run are
/// made in one order, so equal runs give equal bits.
class ParameterServer {
 public:
  /// The executable's parameters and the optimizer's state must hold the shard's values. Both must outlive this.
  /// @param ranges of the optimizer, by bucket
  ParameterServer(engine::Executable& executable, Optimizer& optimizer,
                  std::vector<std::vector<engine::UpdateRange>> ranges, const ParameterServerOptions& options);

  /// Serves until all workers have left. `group` is divided; the workers are all ranks before this part. Throws
  /// CommError naming the rank that others have waited for longer than the limit.
  void serve(dist::Communicator& group);

 private:
  using Clock = std::chrono::steady_clock;

  /// State of a worker.
  enum class Stage : std::uint8_t {
    Away,      ///< nothing is awaited: it starts, validates or has met the others
    Computes,  ///< async: its next request is due
    Pushes,    ///< its gradients arrive
    Waits,     ///< its answer is made or under way
    Gone       ///< it has taken leave
  };
  struct Worker {
    int rank = 0;
    Stage stage = Stage::Away;
    Request request;
    dist::Pending asked{};
    Reply reply;
    /// Gradients of the shard, bucket after bucket; async: then the weights that go back.
    std::vector<float> values;
    std::vector<dist::Pending> receives;
    std::size_t received = 0;
    std::vector<dist::Pending> sends;
    std::size_t sent = 0;
    /// All of the answer is among `sends`.
    bool is_answered = false;
    std::int64_t read_version = 0;
    Clock::time_point since;
  };

  [[nodiscard]] bool advance(dist::Communicator& group, Worker& worker);
  void expect(dist::Communicator& group, Worker& worker);
  void take_request(dist::Communicator& group, Worker& worker);
  /// A bucket of the shard has arrived from a worker, the `i`th of its push.
  void take_bucket(dist::Communicator& group, std::size_t i);
  void take_push(dist::Communicator& group, Worker& worker);
  /// Mean over workers, in their order; in the first worker's values.
  void sum_bucket(std::size_t i);
  void apply_bucket(std::size_t i, std::span<const float> gradients, const Request& request, double factor);
  /// Updates by the whole sum once its norm is known.
  void apply_clipped(dist::Communicator& group);
  void answer_all(dist::Communicator& group, std::size_t i);
  void end_round(dist::Communicator& group);
  void send_reply(dist::Communicator& group, Worker& worker);
  void send_weights(dist::Communicator& group, Worker& worker);
  void send_state(dist::Communicator& group, Worker& worker);
  void send(dist::Communicator& group, Worker& worker, std::span<const std::byte> bytes, int tag);
  void check_limits();
  void give_up(Worker& worker);
  void forget_all() noexcept;
  [[nodiscard]] bool is_clipped() const { return !options_.servers.is_async() && options_.clip_norm > 0.0; }
  [[nodiscard]] std::span<float> part(std::vector<float>& values, std::size_t i) const;
  [[nodiscard]] const engine::Bucket& place(std::size_t i) const;

  engine::Executable& executable_;
  Optimizer& optimizer_;
  const ParameterServerOptions options_;
  std::vector<std::vector<engine::UpdateRange>> ranges_;
  /// The shard, and where each of its buckets begins in Worker::values.
  std::vector<std::int64_t> buckets_;
  std::vector<std::size_t> begins_;
  std::size_t elements_ = 0;
  std::vector<Worker> workers_;
  /// ps: weights that go to all workers.
  std::vector<float> weights_;
  /// ps: number of workers whose bucket has arrived in this round.
  std::vector<int> arrived_;
  std::vector<const std::byte*> sources_;
  /// ps: when the first request of the round came.
  std::optional<Clock::time_point> round_began_;
  Reply totals_;
};

}  // namespace roentgen::train
