// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Observers receive the records of a run: the progress line, log.jsonl and TensorBoard.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dist/links.h"
#include "engine/loss_scale.h"
#include "runtime/device_monitor.h"
#include "train/servers/staleness.h"

namespace roentgen::train {

/// Record of one update.
struct StepRecord {
  /// Number of updates of the run, including this one.
  std::int64_t step = 0;
  std::int64_t total_steps = 0;  ///< number of updates of the whole run
  /// Number of the epoch, from 0.
  std::int64_t epoch = 0;
  /// Mean loss over the accumulated batches.
  double loss = 0.0;
  double lr = 0.0;  ///< learning rate of the update
  /// Global gradient norm before clipping: of this update or, on a CUDA device, of the previous one. Nullopt without
  /// clipping, in the first update on a CUDA device, and if the gradients overflowed.
  std::optional<double> gradient_norm{};
  /// Loss scale; nullopt if the loss is not scaled.
  std::optional<double> loss_scale{};
  std::int64_t images = 0;  ///< number of images of the update, over all ranks
  double seconds = 0.0;     ///< time of the update
  /// Part of `seconds` spent waiting for the loader.
  double data_wait_seconds = 0.0;
  /// Part of `seconds` spent waiting for gradients of other ranks; nullopt if not measured.
  std::optional<double> comm_exposed_seconds{};
  /// Work time of the slowest rank above the mean in the previous update, as a fraction of the mean; nullopt for one
  /// process. In an asynchronous run, the previous update of each worker counts.
  std::optional<double> imbalance{};
  /// Rank with the longest work time in the previous update; -1: unknown.
  int slowest_rank = -1;
  /// New reading of the device monitor; nullopt in most updates, and without a monitor.
  std::optional<runtime::DeviceUse> device{};
  /// Counts of gradients in an asynchronous run; else nullopt.
  std::optional<StalenessRecord> staleness{};

  /// Images per second in this update.
  [[nodiscard]] double images_per_s() const { return seconds > 0.0 ? static_cast<double>(images) / seconds : 0.0; }
  /// Share of `seconds` spent waiting for the loader.
  [[nodiscard]] double data_wait_share() const { return seconds > 0.0 ? data_wait_seconds / seconds : 0.0; }
};

/// Record of one epoch, after its validation.
struct EpochRecord {
  std::int64_t epoch = 0;   ///< number of the epoch, from 0
  std::int64_t step = 0;    ///< number of updates of the run so far
  double train_loss = 0.0;  ///< mean loss over the updates of the epoch
  /// Validation loss; nullopt without validation images.
  std::optional<double> val_loss{};
  /// Mean AUROC over the labels with a defined AUROC; nullopt if there are none.
  std::optional<double> val_auroc{};
  /// Share of the validation images whose true class is the most probable one; nullopt for independent labels.
  std::optional<double> val_top1{};
  std::int64_t labels_in_mean = 0;  ///< number of labels with a defined AUROC
  std::int64_t labels_total = 0;    ///< number of labels of the data set
  /// Labels with an undefined AUROC, because the validation images have only one class.
  std::vector<std::string> labels_left_out{};
  bool is_best = false;  ///< whether it is the best epoch so far
  /// Training time of the epoch in this process; a resumed epoch counts only the resumed part.
  double train_seconds = 0.0;
  double val_seconds = 0.0;  ///< seconds of the validation
  /// Number of unreadable images that this process has met so far.
  std::int64_t bad_images = 0;
  /// Resident memory of the process at the end of the epoch.
  std::int64_t rss_bytes = 0;
  /// Loss scale at the end of the epoch, and the number of updates skipped because of overflows; nullopt without a loss
  /// scale.
  std::optional<engine::LossScale> loss_scale{};
};

/// Result of a test of the network links between hosts (link_watch.h).
struct LinksRecord {
  /// Number of updates of the run so far.
  std::int64_t step = 0;
  /// Typical bandwidth of a link between hosts (dist::usual_link).
  double usual_mb_per_s = 0.0;
  std::vector<dist::Link> slow{};  ///< links with less than half of the typical bandwidth
  /// Names for `slow`: hosts whose links are all slow, and other slow links ("host3", "host1 to host2").
  std::vector<std::string> names{};
};

/// Counts of gradients at a meeting of the workers of an asynchronous run (async_leg.h).
struct WorkersRecord {
  /// Number of rounds of the run so far.
  std::int64_t step = 0;
  std::vector<GradientCount> workers{};  ///< by rank
};

/// Receives the records of a run. Not thread-safe.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Called after every update.
  virtual void on_step(const StepRecord& record) { static_cast<void>(record); }
  /// Called after a test of network links.
  virtual void on_links(const LinksRecord& record) { static_cast<void>(record); }
  /// Called after a meeting of the workers of an asynchronous run.
  virtual void on_workers(const WorkersRecord& record) { static_cast<void>(record); }
  /// Called during validation with the number of images done and in total.
  virtual void on_validation(std::int64_t /*done*/, std::int64_t /*total*/) {}
  /// Called after every epoch, including its validation.
  virtual void on_epoch(const EpochRecord& record) { static_cast<void>(record); }
  /// Called when the run ends or stops, for example to end the progress line.
  virtual void on_end() {}
};

/// Creates an observer that appends one JSON object per line: {"kind": "step"|"links"|"workers"|"epoch", ...}
/// (docs/reference/formats/run.md). Throws DataError if the file cannot be opened or written.
[[nodiscard]] std::unique_ptr<Observer> make_json_log(const std::filesystem::path& path);
/// Removes lines with a "step" above `step` and epochs from `epoch` on, so that a resumed run repeats no line. Removes
/// a truncated line, too. Replaces the file atomically.
void truncate_json_log(const std::filesystem::path& path, std::int64_t step, std::int64_t epoch);

/// Suffix of the TensorBoard event files that Roentgen writes.
inline constexpr std::string_view kEventSuffix = ".roentgen";
/// Creates a TensorBoard event file in `folder`, for a run whose last update was `step` (0 = none). Per update:
/// train/loss, train/lr, train/gradient_norm, train/loss_scale, speed/images_per_s, speed/data_wait. Per epoch:
/// epoch/train_loss, epoch/val_loss, epoch/val_auroc, epoch/skipped_updates. Throws DataError as io::EventFile.
[[nodiscard]] std::unique_ptr<Observer> make_tensorboard(const std::filesystem::path& folder, std::int64_t step);

/// Form of the progress output.
enum class ProgressStyle : std::uint8_t {
  Line,  ///< one line that is overwritten, a few times a second
  Log,   ///< one line every half minute and per epoch
};
/// Creates an observer that prints progress to standard error: loss, images/s and time left. It also prints the share
/// of time spent waiting for data, the use of the device, and a slow link or rank. Warns once of each rank that slows
/// the others down.
/// @param hosts host name of each rank; empty for one process
[[nodiscard]] std::unique_ptr<Observer> make_progress(ProgressStyle style, std::vector<std::string> hosts = {});
/// Names the bottleneck of a run that waited `wait_s` of `seconds` for batches and `comm_s` for other ranks. The longer
/// wait, if it exceeds 5%, makes it "input-bound" or "communication-bound"; else it is "compute-bound". A device that
/// is busy for 95% of the time also means "compute-bound", because the host waits while the device works.
/// @param device_busy_percent mean of DeviceUse::busy_percent; nullopt if not measured
[[nodiscard]] std::string_view bound_by(double wait_s, double seconds, double comm_s = 0.0,
                                        std::optional<double> device_busy_percent = std::nullopt);
/// True if bound_by() gives "input-bound" for one process.
[[nodiscard]] bool is_input_bound(double wait_s, double seconds);

/// Formats a duration as hours, minutes and seconds, "1:02:03", or as minutes and seconds, "2:03".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace roentgen::train
