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

/// Settings of a parameter server.
struct ParameterServerOptions {
  ServerOptions servers;
  int index = 0;                             ///< number of this server, from 0
  int workers = 1;                           ///< number of workers; they are the ranks 0 to workers - 1
  double clip_norm = 0.0;                    ///< ps: StepperOptions::clip_norm
  std::int64_t gradients = 0;                ///< gradients of the run before this start
  std::chrono::milliseconds limit{300'000};  ///< timeout for a rank on which other ranks wait
  std::function<bool()> is_stop_asked{};     ///< called once per update; may be empty
};

/// Parameter server: holds a shard (some gradient buckets) of the weights and serves the workers. Used only by the
/// communicator's thread. A synchronous run sums in a fixed order, so that equal runs give equal bits.
class ParameterServer {
 public:
  /// The executable's parameters and the optimizer's state must contain the values of the shard. Both must outlive this
  /// object.
  /// @param ranges update ranges of the optimizer in each bucket (ranges_by_bucket())
  ParameterServer(engine::Executable& executable, Optimizer& optimizer,
                  std::vector<std::vector<engine::UpdateRange>> ranges, const ParameterServerOptions& options);

  /// Serves until all workers have ended. `group` must be divided (Communicator::divide()), with all servers in this
  /// part. Throws CommError naming a rank for which other ranks have waited longer than the timeout.
  void serve(dist::Communicator& group);

 private:
  using Clock = std::chrono::steady_clock;

  /// State of a worker, as seen by the server.
  enum class Stage : std::uint8_t {
    Away,      ///< no request is expected soon: the worker starts, validates or meets other workers
    Computes,  ///< async: the worker computes; its next request is due within the timeout
    Pushes,    ///< the gradients of the worker are being received
    Waits,     ///< the server computes or sends its reply
    Gone       ///< the worker has ended
  };
  struct Worker {
    int rank = 0;
    Stage stage = Stage::Away;
    Request request;
    dist::Pending asked{};
    Reply reply;
    /// Gradients of the shard, bucket by bucket; async: later overwritten by the weights to send.
    std::vector<float> values;
    std::vector<dist::Pending> receives;
    std::size_t received = 0;
    std::vector<dist::Pending> sends;
    std::size_t sent = 0;
    /// True if `sends` contains the complete reply.
    bool is_answered = false;
    std::int64_t read_version = 0;
    Clock::time_point since;
  };

  [[nodiscard]] bool advance(dist::Communicator& group, Worker& worker);
  void expect(dist::Communicator& group, Worker& worker);
  void take_request(dist::Communicator& group, Worker& worker);
  /// Handles the arrival of bucket `i` of the shard from one worker. The last worker to send it triggers the update.
  void take_bucket(dist::Communicator& group, std::size_t i);
  void take_push(dist::Communicator& group, Worker& worker);
  /// Compares the work times of all workers, once each is known.
  void compare_workers(const Worker& worker);
  /// Computes the mean of bucket `i` over workers, in their order, in place of the first worker's values.
  void sum_bucket(std::size_t i);
  /// @param factor product of the clip factor and LossCount::factor()
  void apply_bucket(std::size_t i, std::span<const float> gradients, const Request& request, double factor);
  /// Factor of the update to which all workers have sent gradients.
  [[nodiscard]] double loss_factor() const;
  /// Computes the norm over all servers, then updates all buckets with clipped gradients.
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
  /// Buckets of the shard, and the offset of each bucket in Worker::values.
  std::vector<std::int64_t> buckets_;
  std::vector<std::size_t> begins_;
  std::size_t elements_ = 0;
  std::vector<Worker> workers_;
  /// Synchronous update: weights to send to all workers.
  std::vector<float> weights_;
  /// Synchronous update: for each bucket, number of workers that have sent it in this round.
  std::vector<int> arrived_;
  std::vector<const std::byte*> sources_;
  /// Synchronous update: arrival time of the first request of the round.
  std::optional<Clock::time_point> round_began_;
  /// Async: last known Request::busy_s of each worker; 0: unknown.
  std::vector<float> busy_s_;
  Reply totals_;
};

}  // namespace roentgen::train
