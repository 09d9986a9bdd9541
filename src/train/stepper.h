// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Stepper: one update: batches in, forward, backward, accumulation, clipping, optimizer. Independent of epochs and
// files.
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
#include "train/observer.h"
#include "train/optimizer/optimizer.h"
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
  /// Options of all rules; only those of the optimizer's rule count.
  engine::OptimizerRules rules;
  double weight_decay = 0.0;
  /// Weight decay on norm scales, shifts and biases, too.
  bool decays_norm_and_bias = false;
  /// Batches per update; their gradients are averaged.
  std::int64_t accumulate = 1;
  /// Largest global L2 norm of the gradient; 0 = no limit. With a limit, gradients are scaled by
  /// min(1, clip_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_.
  double clip_norm = 0.0;
  /// Called with the samples of each batch that was trained on; may be empty.
  std::function<void(std::span<const std::uint32_t> samples)> on_batch{};
  /// Ranks that make the update together, each on its own batches; their gradients are averaged. Null: this process
  /// alone. Must outlive the stepper.
  dist::CommThread* group = nullptr;
  /// With a group: engine::Engine::device_id() of the executable's engine.
  std::string device_id{};
  /// With a group: makes NCCL's part of this rank; empty: the machine's NCCL. For tests.
  std::function<std::unique_ptr<dist::NcclCalls>()> make_nccl{};
  /// With a group that is divided (CommThread::divide()): its last ranks are servers, which make the updates. Sync: the
  /// group has none.
  ServerOptions servers{};
  /// With a group: polled once per update; all ranks learn when one of them returns true. May be empty.
  std::function<bool()> is_stop_asked{};
  /// With a group: sends gradients while backward continues. False: sends them after it, for comparison.
  bool is_overlapped = true;
  /// With a group without servers: joins the executable's buckets to at least this many bytes. 0: sends each alone.
  std::size_t bucket_bytes = 0;
  /// Timeline that records the parts of an update; null: none. Must outlive the stepper.
  Timeline* timeline = nullptr;
};

/// Arena ranges with their weight decay, neighbours of equal decay joined; padding between slices belongs to none.
/// @param is_layerwise weights stay apart, marked as layers
[[nodiscard]] std::vector<engine::UpdateRange> update_ranges(const engine::Executable& executable,
                                                             const StepperOptions& options, bool is_layerwise = false);

/// Neighbouring buckets of an executable that are sent together.
struct SentBucket {
  engine::Bucket place;   ///< range of the arena
  std::int64_t last = 0;  ///< number of the executable's last bucket in it
};

/// Joins neighbouring buckets until each has at least `bytes` bytes; the last may be smaller.
[[nodiscard]] std::vector<SentBucket> join_buckets(const std::vector<engine::Bucket>& buckets, std::size_t bytes);

/// The parts of `ranges` within each bucket.
[[nodiscard]] std::vector<std::vector<engine::UpdateRange>> ranges_by_bucket(
    const std::vector<engine::UpdateRange>& ranges, const std::vector<engine::Bucket>& buckets);

/// Makes updates on an executable of training form. Not thread-safe.
class Stepper {
 public:
  /// `executable` must outlive this.
  Stepper(engine::Executable& executable, StepperOptions options);

  /// Takes `accumulate` batches and makes one update. Throws DataError naming the step when the loss or a gradient norm
  /// is not finite; the weights are then unchanged. With a loss scale an overflow of gradients skips the update; throws
  /// DataError when the scale is below 1.
  /// @param step updates made before this one: keys dropout, counts adam's time
  /// @return loss, norm, images (of all ranks) and time; step, epoch and lr as given
  [[nodiscard]] StepRecord update(data::BatchSource& batches, std::int64_t step, double lr);

  [[nodiscard]] Optimizer& optimizer() { return optimizer_; }
  /// Joins the executable's buckets to at least `bytes` bytes from the next update on. All ranks call it with the same
  /// number. Only where has_free_bucket_size().
  void set_bucket_bytes(std::size_t bytes);
  /// True if the weights have the same bits with buckets of any size, and several ranks average them on the host.
  [[nodiscard]] bool has_free_bucket_size() const;
  /// Waits until the device has averaged all gradients: before weights are read that must be sound. Throws CommError
  /// where an average failed.
  void settle();
  /// Exchange with parameter servers; null without them.
  [[nodiscard]] ServerExchange* servers() { return servers_.get(); }
  /// With a group: whether a rank was asked to stop in the last update. All ranks get the same answer.
  [[nodiscard]] bool is_stop_asked() const { return is_stop_asked_; }

 private:
  /// Runs batch `i` of the update and adds its gradients. Gradients of the last batch are sent to the other ranks as
  /// they become ready. Adds the loss to the record, except that of a single process's last batch, which is read later.
  void run_batch(data::BatchSource& batches, std::int64_t i, StepRecord& record);
  [[nodiscard]] std::optional<data::Batch> next_batch(data::BatchSource& batches) const;
  /// Adds the loss of the last forward to the record, and the loss scale at its start.
  void add_loss(StepRecord& record) const;
  void take_bucket(std::int64_t bucket, const runtime::Event& ready, std::int64_t i);
  void join(std::size_t bytes);
  /// Sends the bucket at this index of sent_.
  void send(std::size_t at);
  /// Sends all buckets after backward.
  void send_all();
  /// Sends this rank's report, once the record has the loss.
  void report(const StepRecord& record);
  /// Waits for the other ranks; updates bucket by bucket where no norm has to be known first.
  void finish_with_group(StepRecord& record);
  [[nodiscard]] bool has_partners() const { return exchange_ || servers_; }
  /// Whether servers get gradients while backward continues.
  [[nodiscard]] bool pushes_early() const;
  void begin_push(const StepRecord& record, double factor);
  /// Sends all gradients after backward; async: limited to clip_norm.
  void push_late(StepRecord& record);
  /// Waits for the weights of the servers.
  void finish_with_servers(StepRecord& record);
  /// Sets what all ranks report of the update.
  void add_group_report(StepRecord& record);
  /// Queues the update of all parameters, then reads its result. Throws DataError when the update failed.
  /// @param after of AveragedBucket; null: none
  void apply_all(StepRecord& record, const runtime::Event* after = nullptr);
  /// Sum over the update's batches; after finish_with_group() the mean of that over ranks.
  [[nodiscard]] const engine::Arena& gradients() const { return total_ ? *total_ : executable_.gradients(); }
  void apply(std::span<const engine::UpdateRange> ranges, const StepRecord& record, double clip_norm,
             const runtime::Event* after);

  engine::Executable& executable_;
  StepperOptions options_;
  Optimizer optimizer_;
  /// Whether the engine scales the loss.
  bool scales_loss_;
  std::vector<engine::UpdateRange> ranges_;
  /// Sum of gradients; null without accumulation.
  std::unique_ptr<engine::Arena> total_;
  /// Exchange of gradients, with a group; ranges_ is then grouped by bucket. With servers of synchronous updates, of
  /// reports alone.
  std::unique_ptr<GradientExchange> exchange_;
  /// Null without parameter servers.
  std::unique_ptr<ServerExchange> servers_;
  /// Buckets as they are sent, and their parts of ranges_.
  std::vector<SentBucket> sent_;
  std::vector<std::vector<engine::UpdateRange>> bucket_ranges_;
  /// Number of buckets of this update that were passed to send().
  std::size_t sent_count_ = 0;
  /// Event that is reached once a bucket of the executable, and all before it, are final.
  std::vector<const runtime::Event*> ready_;
  bool is_stop_asked_ = false;
  double busy_s_ = 0.0;
};

}  // namespace roentgen::train
