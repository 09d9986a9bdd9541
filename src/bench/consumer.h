// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Consumer: takes the batches of a measured pipeline: nothing, an emulated device, or training steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/network.h"
#include "core/shape.h"
#include "core/value.h"
#include "data/stage/batch.h"

namespace roentgen::bench {

/// Consumer of batches: their memory and the work on them. One thread.
class Consumer {
 public:
  virtual ~Consumer() = default;
  /// Slots for batches of images with `labels` labels each, for a Loader. They live as long as this, or until the next
  /// call.
  [[nodiscard]] virtual std::vector<data::BatchSlot> slots(std::size_t labels) = 0;
  /// Processes a filled slot, which may be refilled afterwards.
  virtual void take(int slot) = 0;
  /// "emulated:1200", "resnet50"; empty: only takes batches.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Whether its time stands for another machine.
  [[nodiscard]] virtual bool is_emulated() const { return false; }
  /// Compute threads; 0: none.
  [[nodiscard]] virtual int threads() const { return 0; }
  /// Type of the slots' images that a network asks for (Engine::slot_dtype); nullopt: any.
  [[nodiscard]] virtual std::optional<DType> slot_dtype() const { return std::nullopt; }
};

/// Size of the batches.
struct BatchSize {
  std::int64_t images = 64;
  /// Bytes of one image.
  std::size_t image_bytes = 0;
  int slots = 3;
};

/// Takes batches like an accelerator of that speed: sleeps images / images_per_s for each. 0: does not sleep.
[[nodiscard]] std::unique_ptr<Consumer> make_emulated_device(double images_per_s, const BatchSize& size);
/// Makes an update by SGD with momentum on each batch, with labels of its own. Compiles at once; throws what
/// compile_step() throws, and take() DataError when a loss is not finite.
[[nodiscard]] std::unique_ptr<Consumer> make_training_step(const NetworkOptions& options, StepTeam team);

/// "emulated:1200" as 1200 images a second; ConfigError otherwise.
[[nodiscard]] double parse_emulated_device(std::string_view text);
/// Whether the text names an emulated device.
[[nodiscard]] bool is_emulated_device(std::string_view text);

}  // namespace roentgen::bench
