// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Updates: runs update rules on the device. The kernel of a rule is in a source file named after the rule; a missing
// kernel is a link error.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/cuda/plan/lowering.h"
#include "engine/update/update_list.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Elements [begin, begin + count) of an arena, updated by one block.
struct UpdatePart {
  std::int64_t begin = 0;
  std::int32_t count = 0;
  std::int32_t range = 0;     ///< index into the ranges of the update
  float weight_decay = 0.0F;  ///< weight decay of the range
};
/// Largest number of elements of an UpdatePart.
inline constexpr std::int64_t kPartElements = 2048;
/// Divides the ranges into parts of at most kPartElements elements, in order.
[[nodiscard]] std::vector<UpdatePart> update_parts(std::span<const UpdateRange> ranges);

/// Data about a range for rules that use norms of layers, such as Lars.
struct UpdateLayer {
  double weight_decay = 0.0;
  std::int32_t first_part = 0;
  std::int32_t part_count = 0;
  std::int32_t is_layer = 0;  ///< 1 if UpdateRange::is_layer is true, else 0
};
/// Returns one UpdateLayer per range. `parts` must be the result of update_parts() for the same ranges.
[[nodiscard]] std::vector<UpdateLayer> update_layers(std::span<const UpdateRange> ranges,
                                                     std::span<const UpdatePart> parts);

/// Arguments of a rule's update kernel. All pointers are to device memory.
struct UpdateCall {
  runtime::Stream& stream;              ///< stream on which kernels are queued
  const UpdateWork& work;               ///< values of this step
  const StepState* state = nullptr;     ///< provides the clipped scale; nothing is written if the step is unsound
  const UpdatePart* parts = nullptr;    ///< parts of all ranges
  std::int64_t part_count = 0;          ///< at least 1
  const UpdateLayer* layers = nullptr;  ///< one UpdateLayer per range, for rules that use norms of layers
  double* squares = nullptr;            ///< scratch of rules that use norms of layers: two numbers per part
  float* factors = nullptr;             ///< scratch of rules that use norms of layers: one number per range
};

// Every update rule in update_list.h defines this function, in a source file named after the rule.
#define RG_UPDATE_KERNEL(Rule)                       \
  /** Queues the update of all parts by the rule. */ \
  void update(const Rule& rule, const UpdateCall& call);
RG_UPDATE_LIST(RG_UPDATE_KERNEL)
#undef RG_UPDATE_KERNEL

/// Runs update rules on one device. Not thread-safe.
class Updates {
 public:
  /// Device and stream must outlive this object. `state` must be in device memory.
  /// @param growth_updates LossScaling::growth_updates; 0: gradients are not scaled
  Updates(runtime::Device& device, runtime::Stream& stream, StepState* state, std::int64_t growth_updates);
  /// Applies a rule as Executable::update() does. The first call with new ranges allocates and waits.
  const runtime::Event& run(const UpdateRule& rule, const UpdateWork& work);
  /// Returns the gradient norm as Executable::read_norm() does. Waits for the update to finish.
  [[nodiscard]] double read_norm() const;

 private:
  /// Ranges divided into parts, in device memory.
  struct Parts {
    std::vector<UpdateRange> ranges;
    std::unique_ptr<runtime::DeviceBuffer> parts;
    std::unique_ptr<runtime::DeviceBuffer> layers;
    std::unique_ptr<runtime::DeviceBuffer> squares;
    std::unique_ptr<runtime::DeviceBuffer> factors;
    std::int64_t count = 0;
  };
  const Parts& parts_of(std::span<const UpdateRange> ranges);

  runtime::Device& device_;
  runtime::Stream& stream_;
  StepState* state_;
  std::int64_t growth_updates_;
  std::unique_ptr<runtime::DeviceBuffer> partial_;
  std::unique_ptr<runtime::PinnedBuffer> norm_;
  std::unique_ptr<runtime::DeviceBuffer> norm_on_device_;
  std::unique_ptr<runtime::Event> norm_ready_;
  std::unique_ptr<runtime::Event> done_;
  std::vector<std::unique_ptr<Parts>> parts_;
};

}  // namespace roentgen::engine::cuda
