// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Observer that writes the numbers of log.jsonl as TensorBoard events.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <vector>

#include "io/event_file.h"
#include "train/observer.h"

namespace roentgen::train {
namespace {

double now_s() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// Name of the event file. TensorBoard reads files with "tfevents" in their name, in the order of names. Microseconds
// keep the order of two starts in one second. The host name is omitted for privacy.
std::filesystem::path event_path(const std::filesystem::path& folder) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  return folder / fmt::format("events.out.tfevents.{}.{:06}.{}{}", microseconds / 1'000'000, microseconds % 1'000'000,
                              ::getpid(), kEventSuffix);
}

class TensorBoard final : public Observer {
 public:
  TensorBoard(const std::filesystem::path& folder, std::int64_t step) : file_(event_path(folder), step, now_s()) {}

  void on_step(const StepRecord& record) override {
    std::vector<io::Scalar> scalars{{"train/loss", record.loss},
                                    {"train/lr", record.lr},
                                    {"speed/images_per_s", record.images_per_s()},
                                    {"speed/data_wait", record.data_wait_share()}};
    if (record.gradient_norm) scalars.emplace_back("train/gradient_norm", *record.gradient_norm);
    if (record.loss_scale) scalars.emplace_back("train/loss_scale", *record.loss_scale);
    file_.scalars(record.step, now_s(), scalars);
  }

  void on_epoch(const EpochRecord& record) override {
    std::vector<io::Scalar> scalars{{"epoch/train_loss", record.train_loss}};
    if (record.val_loss) scalars.emplace_back("epoch/val_loss", *record.val_loss);
    if (record.val_auroc) scalars.emplace_back("epoch/val_auroc", *record.val_auroc);
    if (record.loss_scale) {
      scalars.emplace_back("epoch/skipped_updates", static_cast<double>(record.loss_scale->skipped));
    }
    file_.scalars(record.step, now_s(), scalars);
  }

 private:
  io::EventFile file_;
};

}  // namespace

std::unique_ptr<Observer> make_tensorboard(const std::filesystem::path& folder, std::int64_t step) {
  return std::make_unique<TensorBoard>(folder, step);
}

}  // namespace roentgen::train
