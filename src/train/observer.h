// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Observers receive the records of a run and never slow it: the progress line, log.jsonl, TensorBoard.
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
  /// Updates made, this one included.
  std::int64_t step = 0;
  std::int64_t total_steps = 0;  ///< updates of the whole run
  /// Epoch, from 0.
  std::int64_t epoch = 0;
  /// Mean over the accumulated batches.
  double loss = 0.0;
  double lr = 0.0;  ///< learning rate of the update
  /// Global norm before clipping; absent without clipping.
  std::optional<double> gradient_norm{};
  /// Factor on the loss's gradient; absent without a loss scale.
  std::optional<double> loss_scale{};
  std::int64_t images = 0;  ///< images of the update, over all ranks
  double seconds = 0.0;     ///< whole time of the update
  /// Part of `seconds` spent waiting for the loader.
  double data_wait_seconds = 0.0;
  /// Part of `seconds` spent waiting for the gradients of other ranks; absent where it was not measured.
  std::optional<double> comm_exposed_seconds{};
  /// Excess work time of the slowest rank over the mean in the previous update, as a share of the mean; absent for one
  /// process.
  std::optional<double> imbalance{};
  /// Rank with that excess; -1: none.
  int slowest_rank = -1;
  /// New reading of the device that computes; absent where there is none, and in most updates.
  std::optional<runtime::DeviceUse> device{};
  /// Counts of an asynchronous run; absent in others.
  std::optional<StalenessRecord> staleness{};

  /// Images a second of this update.
  [[nodiscard]] double images_per_s() const { return seconds > 0.0 ? static_cast<double>(images) / seconds : 0.0; }
  /// Share of `seconds` spent waiting for the loader.
  [[nodiscard]] double data_wait_share() const { return seconds > 0.0 ? data_wait_seconds / seconds : 0.0; }
};

/// Record of one epoch, after its validation.
struct EpochRecord {
  std::int64_t epoch = 0;   ///< epoch, from 0
  std::int64_t step = 0;    ///< updates made
  double train_loss = 0.0;  ///< mean over the epoch's updates
  /// Absent without validation images.
  std::optional<double> val_loss{};
  /// Mean over the labels that are defined; absent when none is.
  std::optional<double> val_auroc{};
  std::int64_t labels_in_mean = 0;  ///< labels that val_auroc is over
  std::int64_t labels_total = 0;    ///< labels of the data set
  /// Labels without an AUROC: one class only among the validation images.
  std::vector<std::string> labels_left_out{};
  bool is_best = false;  ///< whether it is the best epoch so far
  /// Training and validation time of this epoch, as far as this process ran it.
  double train_seconds = 0.0;
  double val_seconds = 0.0;  ///< seconds of its validation
  /// Unreadable images met so far by this process.
  std::int64_t bad_images = 0;
  /// Physical memory of the process at the end of the epoch.
  std::int64_t rss_bytes = 0;
  /// Loss scale at the end of the epoch, and the number of updates that overflows skipped; absent without a loss scale.
  std::optional<engine::LossScale> loss_scale{};
};

/// A test of the links between hosts (link_watch.h).
struct LinksRecord {
  /// Updates made.
  std::int64_t step = 0;
  /// Usual bandwidth of a link between hosts (dist::usual_link).
  double usual_mb_per_s = 0.0;
  std::vector<dist::Link> slow{};  ///< links slower than half the usual
  /// Hosts and links behind `slow`: "host3", "host1 to host2".
  std::vector<std::string> names{};
};

/// Receiver of records. Not thread-safe.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_step(const StepRecord& record) { static_cast<void>(record); }    ///< called after every update
  virtual void on_links(const LinksRecord& record) { static_cast<void>(record); }  ///< called after a test of the links
  /// Number of images of a validation done so far.
  virtual void on_validation(std::int64_t /*done*/, std::int64_t /*total*/) {}
  /// Called after every epoch's validation.
  virtual void on_epoch(const EpochRecord& record) { static_cast<void>(record); }
  /// Called when the run ends or stops; ends an open line.
  virtual void on_end() {}
};

/// Appends one JSON object a line: {"kind": "step"|"links"|"epoch", ...}; docs/reference/formats/run.md. DataError when
/// the file cannot be opened or written.
[[nodiscard]] std::unique_ptr<Observer> make_json_log(const std::filesystem::path& path);
/// Keeps the lines whose "step" is at most `step`, and epochs before `epoch`, so that a resumed run repeats no line.
/// Drops a truncated line. Atomic.
void truncate_json_log(const std::filesystem::path& path, std::int64_t step, std::int64_t epoch);

/// Suffix of our TensorBoard event files.
inline constexpr std::string_view kEventSuffix = ".roentgen";
/// Creates a TensorBoard event file in `folder`, for a run whose last update was `step` (0 = none). Per update:
/// train/loss, train/lr, train/gradient_norm, train/loss_scale, speed/images_per_s, speed/data_wait. Per epoch:
/// epoch/train_loss, epoch/val_loss, epoch/val_auroc, epoch/skipped_updates. Throws DataError as io::EventFile.
[[nodiscard]] std::unique_ptr<Observer> make_tensorboard(const std::filesystem::path& folder, std::int64_t step);

/// Form of the progress output.
enum class ProgressStyle : std::uint8_t {
  Line,  ///< one line that is overwritten, a few times a second
  Log,   ///< a line every half minute, and one an epoch
};
/// Writes to standard error: loss, images/s, share of time spent waiting for data, use of the device, slow link or
/// rank, time left. Warns once of each rank that slows the others down.
/// @param hosts of each rank; empty: one process
[[nodiscard]] std::unique_ptr<Observer> make_progress(ProgressStyle style, std::vector<std::string> hosts = {});
/// Bottleneck of a run that waited `wait_s` of `seconds` for batches and `comm_s` for other ranks. Of the waits beyond
/// 5% the longer one decides: "input-bound" or "communication-bound". "compute-bound" if neither is, or if a device is
/// busy for 95% of the time, since the host waits beside its work.
/// @param device_busy_percent mean of DeviceUse::busy_percent; nullopt: no device that tells it
[[nodiscard]] std::string_view bound_by(double wait_s, double seconds, double comm_s = 0.0,
                                        std::optional<double> device_busy_percent = std::nullopt);
/// Whether the run is input-bound, for one process.
[[nodiscard]] bool is_input_bound(double wait_s, double seconds);

/// "1:02:03", "2:03" (minutes, seconds).
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace roentgen::train
