// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Stepper: makes one update: reads batches, runs forward and backward, accumulates and clips gradients, runs the
// optimizer. Independent of epochs and files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/stage/batch.h"
#include "engine/engine.h"
#include "train/gradient_exchange.h"
#include "train/loss_weight.h"
#include "train/observer.h"
#include "train/optimizer/optimizer.h"
#include "train/sent_buckets.h"
#include "train/servers/server_exchange.h"

namespace roentgen {
class Timeline;
}
namespace roentgen::dist {
class CommThread;
class NcclCalls;
}  // namespace roentgen::dist

namespace roentgen::train {

/// Options of updates.
struct StepperOptions {
  std::string optimizer = "adam";
  /// Options of all update rules; only those of `optimizer` are used.
  engine::OptimizerRules rules;
  double weight_decay = 0.0;
  /// True: batch norms and biases get weight decay, too.
  bool decays_norm_and_bias = false;
  /// Number of batches per update. Their gradients are averaged over batches and ranks, then multiplied by
  /// LossCount::factor() of the update.
  std::int64_t accumulate = 1;
  /// Largest global L2 norm of the gradient; 0: no limit. Gradients are multiplied by min(1, clip_norm / (norm +
  /// 1e-6)), like torch.nn.utils.clip_grad_norm_.
  double clip_norm = 0.0;
  /// Called with the samples of each batch used for training; may be empty.
  std::function<void(std::span<const std::uint32_t> samples)> on_batch{};
  /// Ranks that make updates together, each with its own batches. Null for a single process. Must outlive the stepper.
  dist::CommThread* group = nullptr;
  /// With a group: engine::Engine::device_id() of the executable's engine.
  std::string device_id{};
  /// With a group: creates the NCCL communicator of this rank; empty: uses the NCCL library. For tests.
  std::function<std::unique_ptr<dist::NcclCalls>()> make_nccl{};
  /// Parameter servers, which make the updates. The group must then be divided (CommThread::divide()); its last ranks
  /// are the servers. Sync: no servers.
  ServerOptions servers{};
  /// With a group: called once per update. If it returns true on any rank, all ranks stop. May be empty.
  std::function<bool()> is_stop_asked{};
  /// With a group: true to send gradients while backward continues; false to send them afterwards, for comparison.
  bool is_overlapped = true;
  /// Least number of bytes to send at once with a group without servers: smaller neighbouring buckets are joined. 0:
  /// sends each bucket alone.
  std::size_t bucket_bytes = 0;
  /// Timeline that records the phases of an update; may be null. Must outlive the stepper.
  Timeline* timeline = nullptr;
};

/// Returns the ranges of the parameter arena to update, with their weight decay. Adjacent ranges of equal decay are
/// joined; padding is in no range.
/// @param is_layerwise true: the weights of each layer get a separate range, marked as a layer
[[nodiscard]] std::vector<engine::UpdateRange> update_ranges(const engine::Executable& executable,
                                                             const StepperOptions& options, bool is_layerwise = false);

/// Makes updates of an executable that was compiled for training. Not thread-safe.
class Stepper {
 public:
  /// Creates the optimizer, and the connections to other ranks. `executable` must outlive this object.
  Stepper(engine::Executable& executable, StepperOptions options);

  /// Makes one update from `accumulate` batches. Throws DataError naming the step if the loss or a gradient norm is not
  /// finite; the weights are then unchanged. With a loss scale, an overflow of gradients only skips the update; throws
  /// DataError if the scale falls below 1. If gradients are in device memory, the next update or settle() reads the
  /// norm, so that the host need not wait for the backward pass. The device skips an unsound update at once.
  /// @param step number of earlier updates, which seeds dropout and is the step count of Adam
  /// @return loss, norm, number of images (of all ranks) and time, with `lr`, and `step` + 1
  [[nodiscard]] StepRecord update(data::BatchSource& batches, std::int64_t step, double lr);

  [[nodiscard]] Optimizer& optimizer() { return optimizer_; }
  /// Joins the executable's buckets to at least `bytes` bytes from the next update on. All ranks must call it with the
  /// same number, and only if has_free_bucket_size() is true.
  void set_bucket_bytes(std::size_t bytes);
  /// True if several ranks average gradients on the host, and the weights have the same bits with buckets of any size.
  [[nodiscard]] bool has_free_bucket_size() const;
  /// Waits until the device has averaged all gradients and the norm of the last update is known. Call it before weights
  /// are saved or evaluated. All ranks must call it together. Throws CommError if an average failed, and DataError if
  /// the norm is not finite.
  void settle();
  /// Communication with parameter servers; null if there are none.
  [[nodiscard]] ServerExchange* servers() { return servers_.get(); }
  /// True if any rank was asked to stop in the last update; equal on all ranks.
  [[nodiscard]] bool is_stop_asked() const { return is_stop_asked_; }

 private:
  /// Runs batch `i` of the update and adds its gradients. Gradients of the last batch are sent to other ranks as soon
  /// as they are ready. Adds the loss to the record, except for the last batch of a single process, which is read
  /// later.
  void run_batch(data::BatchSource& batches, std::int64_t i, StepRecord& record);
  [[nodiscard]] std::optional<data::Batch> next_batch(data::BatchSource& batches) const;
  /// Adds the loss of the last forward to the record, and the loss scale of this update.
  void add_loss(StepRecord& record) const;
  /// Prepares averages and updates on the device, so that the first update allocates nothing while averages run.
  void warm_up();
  void take_bucket(std::int64_t bucket, const runtime::Event& ready, std::int64_t i);
  void join(std::size_t bytes);
  /// Sends the bucket at this index of sent_.
  void send(std::size_t at);
  /// Sends all buckets after backward.
  void send_all();
  /// Sends the report of this rank to all ranks; the record must contain the mean loss of its batches.
  void report(const StepRecord& record);
  /// Waits for averaged buckets. Updates each bucket at once, unless the update first needs the norm of all gradients.
  void finish_with_group(StepRecord& record);
  [[nodiscard]] bool has_partners() const { return exchange_ || servers_; }
  /// True if gradients are averaged while backward continues.
  [[nodiscard]] bool averages_early() const { return options_.is_overlapped && serial_updates_ == 0; }
  /// True if gradients are sent to servers while backward continues.
  [[nodiscard]] bool pushes_early() const;
  void begin_push(const StepRecord& record, double clip_factor);
  /// Sends all gradients to the servers after backward; async: clipped to clip_norm.
  void push_late(StepRecord& record);
  /// Factor that turns the sum of gradients over batches into their mean.
  [[nodiscard]] double batch_scale() const { return 1.0 / static_cast<double>(options_.accumulate); }
  /// Waits for the new weights of the servers.
  void finish_with_servers(StepRecord& record);
  /// Fills the record with the combined reports of all ranks.
  void add_group_report(StepRecord& record);
  /// Queues the update of all parameters, then reads the loss, and the norm of this or the previous update. Throws
  /// DataError if one is not finite.
  /// @param after AveragedBucket::after of the last bucket; null if there is none
  void apply_all(StepRecord& record, const runtime::Event* after = nullptr);
  /// Reads the norm of the previous update into late_norm_ unless it was read before. Throws DataError naming its step
  /// if it is not finite.
  void read_late_norm();
  /// Waits for and returns the gradient norm of update `step`, the last one; nullopt if its gradients overflowed and
  /// the loss is scaled. Throws DataError if the norm is not finite otherwise.
  [[nodiscard]] std::optional<double> sound_norm(std::int64_t step) const;
  /// Sum of gradients over the batches of the update; with a group, later its mean over ranks.
  [[nodiscard]] const engine::Arena& gradients() const { return total_ ? *total_ : executable_.gradients(); }
  void apply(std::span<const engine::UpdateRange> ranges, const StepRecord& record, double clip_norm,
             const runtime::Event* after);

  engine::Executable& executable_;
  StepperOptions options_;
  Optimizer optimizer_;
  /// True if the engine scales the loss.
  bool scales_loss_;
  /// True if norms are read one update late: gradients are in device memory.
  bool is_norm_late_;
  /// Step of the update whose norm is not read yet; nullopt: none.
  std::optional<std::int64_t> late_norm_step_;
  /// Norm that was read late and that no record contains yet.
  std::optional<double> late_norm_;
  std::vector<engine::UpdateRange> ranges_;
  LossWeight weight_;
  /// Count of the batches of this update; with synchronous ranks, at the end of all ranks.
  LossCount count_;
  /// Sum of gradients over batches; null without accumulation.
  std::unique_ptr<engine::Arena> total_;
  /// Exchange of gradients between ranks; null for one process and asynchronous updates. With synchronous servers, it
  /// only exchanges reports.
  std::unique_ptr<GradientExchange> exchange_;
  /// Communication with parameter servers; null if there are none.
  std::unique_ptr<ServerExchange> servers_;
  /// Buckets as they are sent, and their parts of ranges_.
  std::vector<SentBucket> sent_;
  std::vector<std::vector<engine::UpdateRange>> bucket_ranges_;
  /// Number of coming updates in which no average runs beside other work. A device that allocates memory or records
  /// graphs can wait for averages of the other devices of its process, which wait for this device.
  int serial_updates_ = 0;
  /// Number of buckets of this update that were passed to send().
  std::size_t sent_count_ = 0;
  /// For each bucket of the executable, the event that is reached when its gradients are complete.
  std::vector<const runtime::Event*> ready_;
  bool is_stop_asked_ = false;
  double busy_s_ = 0.0;
  /// CommThread::exposed_s() that earlier updates have counted.
  std::optional<double> exposed_s_;
};

}  // namespace roentgen::train
