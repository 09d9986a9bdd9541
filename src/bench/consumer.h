// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Consumer: takes the batches of a measured pipeline, and does nothing with them, imitates a device, or runs training
// steps.
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

/// Provides memory for batches, and processes the filled batches. Not thread-safe.
class Consumer {
 public:
  virtual ~Consumer() = default;
  /// Returns slots for a Loader, for batches of images with `labels` labels each. They are valid until the next call or
  /// the end of this object.
  [[nodiscard]] virtual std::vector<data::BatchSlot> slots(std::size_t labels) = 0;
  /// Processes a filled slot. The slot may be refilled afterwards.
  virtual void take(int slot) = 0;
  /// Name such as "emulated:1200" or "resnet50"; empty if the consumer does nothing with batches.
  [[nodiscard]] virtual std::string name() const = 0;
  /// True if the time per batch imitates another machine.
  [[nodiscard]] virtual bool is_emulated() const { return false; }
  /// Number of compute threads; 0: none.
  [[nodiscard]] virtual int threads() const { return 0; }
  /// Image type that the network's engine asks for (Engine::slot_dtype); nullopt: any.
  [[nodiscard]] virtual std::optional<DType> slot_dtype() const { return std::nullopt; }
};

/// Size of batches and number of slots.
struct BatchSize {
  std::int64_t images = 64;
  /// Size of one image in bytes.
  std::size_t image_bytes = 0;
  int slots = 3;
};

/// Makes a consumer that takes batches at the speed of a device: it sleeps images / images_per_s seconds for each
/// batch. 0: does not sleep.
[[nodiscard]] std::unique_ptr<Consumer> make_emulated_device(double images_per_s, const BatchSize& size);
/// Makes a consumer that trains on each batch by SGD with momentum, with random labels. Compiles at once and throws
/// like compile_step(). take() throws DataError if a loss is not finite.
[[nodiscard]] std::unique_ptr<Consumer> make_training_step(const NetworkOptions& options, StepTeam team);

/// Parses "emulated:1200" as 1200 images per second. Throws ConfigError for any other text.
[[nodiscard]] double parse_emulated_device(std::string_view text);
/// True if the text names an emulated device.
[[nodiscard]] bool is_emulated_device(std::string_view text);

}  // namespace roentgen::bench
