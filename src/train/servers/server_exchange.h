// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ServerExchange: communication of a worker with parameter servers. It sends gradients as soon as backward has computed
// them, and receives weights.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "train/loss_weight.h"
#include "train/servers/server_messages.h"
#include "train/servers/server_options.h"
#include "train/servers/staleness.h"
#include "train/slowest_rank.h"

namespace roentgen {
class Timeline;
}
namespace roentgen::dist {
class CommThread;
}

namespace roentgen::train {

class Optimizer;

/// Communication of a worker with the servers. Not thread-safe. Allocates nothing after its first update. Throws
/// CommError like CommThread.
class ServerExchange {
 public:
  /// Description of the gradients of one update, sent to the servers.
  struct Push {
    double lr = 0.0;
    std::int64_t step = 0;  ///< number of updates before this one
    double scale = 1.0;     ///< factor by which the gradients are multiplied
    LossCount count{};      ///< count of their batches; the server applies its factor
    std::int64_t images = 0;
    bool is_finite = true;  ///< true if the loss is finite
    bool is_stop_asked = false;
    double busy_s = 0.0;  ///< seconds that this worker worked in its previous update, without waiting; 0: unknown
  };

  /// Assigns buckets to servers. `group` must be divided (CommThread::divide()); it and `executable` must outlive this
  /// object. Throws like assign_buckets().
  /// @param timeline records waits; may be null
  ServerExchange(dist::CommThread& group, engine::Executable& executable, const ServerOptions& options,
                 Timeline* timeline);
  ServerExchange(const ServerExchange&) = delete;
  ServerExchange& operator=(const ServerExchange&) = delete;
  /// In the middle of an update, marks this rank as failed (CommThread::fail).
  ~ServerExchange();

  [[nodiscard]] const ServerOptions& options() const { return options_; }

  /// Sends the greeting, and the weights and optimizer state of each shard, to the servers. Only the first worker calls
  /// it, before any other communication.
  /// @param greeting description of the run, which the servers read before they compile
  void greet(const std::string& greeting, Optimizer& optimizer);
  /// Sets the number of gradients that the servers received before this start.
  void start_at(std::int64_t gradients) { reply_.gradients = static_cast<double>(gradients); }

  /// Announces the gradients of an update to all servers.
  void begin(const Push& push);
  /// Sends the gradients of a bucket when `ready` is reached. They must not be accessed before finish() returns.
  void send(std::int64_t bucket, runtime::DeviceSpan<float> gradients, const runtime::Event& ready);
  /// Waits for the replies and weights of all servers and stores the weights as parameters. Call it after backward.
  void finish();
  /// Last reply of the first server; is_stop_asked is set if any server requests a stop.
  [[nodiscard]] const Reply& reply() const { return reply_; }
  /// Number of images, over all workers, in the gradients between the last two replies of the first server.
  [[nodiscard]] std::int64_t images() const { return images_; }
  /// Counts of gradients in the last reply.
  [[nodiscard]] StalenessRecord staleness() const;
  /// Async: worker that works longest in an update, by the last reply.
  [[nodiscard]] SlowestRank slowest() const;
  /// Async: gradients of this worker that the first server applied, or dropped, since the start of the program.
  [[nodiscard]] const GradientCount& own_gradients() const { return own_gradients_; }

  /// Async: sets the number of gradients after which workers go to the next meeting.
  void set_until(std::int64_t gradients) { until_ = gradients; }
  /// Async: true if the servers have the gradients of set_until(), or all workers must stop.
  [[nodiscard]] bool is_at_meeting() const;

  /// Reads all weights from the servers into the parameters.
  void read_weights();
  /// Reads the optimizer state from the servers.
  void read_state(Optimizer& optimizer);
  /// Ends the exchange; no other function may follow. The servers end when all workers have called it.
  void end();

 private:
  [[nodiscard]] int rank_of(std::int64_t bucket) const;
  void ask_all(const Request& request);
  /// Receives a bucket of `arena` from its server.
  /// @param phase name for a timeout error, without the index of the server
  /// @param more time added to the timeout of the group
  void receive(const engine::Arena& arena, std::int64_t bucket, const char* phase, std::chrono::milliseconds more);
  void wait_all(const char* what);
  void take_replies(std::chrono::milliseconds more);

  dist::CommThread& group_;
  engine::Executable& executable_;
  const ServerOptions options_;
  Timeline* timeline_;
  /// Index of the server of each bucket.
  std::vector<int> servers_;
  Request request_;
  std::vector<Reply> replies_;
  Reply reply_;
  std::int64_t images_ = 0;
  std::int64_t until_ = 0;
  GradientCount own_gradients_;
  std::vector<std::int64_t> tickets_;
  bool is_under_way_ = false;
};

/// Factor by which clipping multiplies gradients, as for UpdateWork::clip_norm, and their norm before clipping.
struct ClipFactor {
  double factor = 1.0;
  double norm = 0.0;
};
/// Computes min(1, clip_norm / (norm + 1e-6)) and the norm.
/// @param squares sum of squares of the scaled gradients
[[nodiscard]] ClipFactor clip_factor(double squares, double clip_norm);
/// Computes the sum of squares in double, in the order of elements.
[[nodiscard]] double sum_of_squares(std::span<const float> values);

}  // namespace roentgen::train
