// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ServerExchange: a worker's end of parameter servers. Gradients go out as backward finishes them; weights come back.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "train/servers/server_messages.h"
#include "train/servers/server_options.h"
#include "train/servers/staleness.h"

namespace roentgen {
class Timeline;
}
namespace roentgen::dist {
class CommThread;
}

namespace roentgen::train {

class Optimizer;

/// A worker's exchange with the servers. Not thread-safe. Allocates nothing after its first update. Throws CommError as
/// CommThread.
class ServerExchange {
 public:
  /// Gradients of one update, as far as servers must know.
  struct Push {
    double lr = 0.0;
    std::int64_t step = 0;  ///< updates made before this one
    double scale = 1.0;     ///< factor of the gradients
    std::int64_t images = 0;
    bool is_finite = true;  ///< the loss is a finite number
    bool is_stop_asked = false;
  };

  /// `group` is divided (CommThread::divide()); it and `executable` must outlive this. ConfigError as assign_buckets().
  /// @param timeline where waits are written down; may be null
  ServerExchange(dist::CommThread& group, engine::Executable& executable, const ServerOptions& options,
                 Timeline* timeline);
  ServerExchange(const ServerExchange&) = delete;
  ServerExchange& operator=(const ServerExchange&) = delete;
  /// In the middle of an update, marks this rank as failed (CommThread::fail).
  ~ServerExchange();

  [[nodiscard]] const ServerOptions& options() const { return options_; }

  /// Describes the run to all servers, and gives each the weights and optimizer state of its shard. Of the first worker
  /// alone, before anything else.
  /// @param greeting text that the servers read before they make their executable
  void greet(const std::string& greeting, Optimizer& optimizer);
  /// Counts from here on: gradients that the servers have taken so far, in all.
  void start_at(std::int64_t gradients) { reply_.gradients = static_cast<double>(gradients); }

  /// An update's gradients are about to be sent.
  void begin(const Push& push);
  /// Sends a bucket's gradients once they are ready. Nothing may touch them before finish() has returned.
  void send(std::int64_t bucket, runtime::DeviceSpan<float> gradients, const runtime::Event& ready);
  /// Waits for all servers; then the parameters are their weights. To be called when backward is over.
  void finish();
  /// Answer of the first server to the last update; is_stop_asked is set where any server says so.
  [[nodiscard]] const Reply& reply() const { return reply_; }
  /// Images of all workers' gradients that the first server took between the last two answers.
  [[nodiscard]] std::int64_t images() const { return images_; }
  /// Counts of the last answer.
  [[nodiscard]] StalenessRecord staleness() const;

  /// Async: all workers stop at this number of gradients, at the earliest.
  void set_until(std::int64_t gradients) { until_ = gradients; }
  /// Async: the servers have as many gradients as set_until() said, or all are to stop.
  [[nodiscard]] bool is_at_meeting() const;

  /// Reads all weights of the servers into the parameters.
  void read_weights();
  /// Reads the optimizer's state from the servers.
  void read_state(Optimizer& optimizer);
  /// Takes leave: the servers end when all workers have. Nothing can be asked after it.
  void end();

 private:
  [[nodiscard]] int rank_of(std::int64_t bucket) const;
  void ask_all(const Request& request);
  /// Receives a bucket of `arena` from its server.
  /// @param more time beyond the group's limit
  void receive(const engine::Arena& arena, std::int64_t bucket, std::chrono::milliseconds more);
  void wait_all(const char* what);
  void take_replies(std::chrono::milliseconds more);

  dist::CommThread& group_;
  engine::Executable& executable_;
  const ServerOptions options_;
  Timeline* timeline_;
  /// Server of each bucket.
  std::vector<int> servers_;
  Request request_;
  std::vector<Reply> replies_;
  Reply reply_;
  std::int64_t images_ = 0;
  std::int64_t until_ = 0;
  std::vector<std::int64_t> tickets_;
  bool is_under_way_ = false;
};

/// Factor that limits the norm of the scaled gradients of this worker to `clip_norm`, as UpdateWork::clip_norm.
/// @return the factor, and the norm before
struct ClipFactor {
  double factor = 1.0;
  double norm = 0.0;
};
/// @param squares sum of squares of the scaled gradients
[[nodiscard]] ClipFactor clip_factor(double squares, double clip_norm);
/// Sum of squares, in double, in the order of elements.
[[nodiscard]] double sum_of_squares(std::span<const float> values);

}  // namespace roentgen::train
