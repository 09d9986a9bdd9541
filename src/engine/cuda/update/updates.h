// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Updates: runs update rules on the device. A rule's kernel lies in the file of its name; a missing one is a link
// error.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/cuda/plan/lowering.h"
#include "engine/update/update_list.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Elements [begin, begin + count) of an arena that one block updates.
struct UpdatePart {
  std::int64_t begin = 0;
  std::int32_t count = 0;
  std::int32_t range = 0;     ///< index into the ranges of the update
  float weight_decay = 0.0F;  ///< of the range
};
/// Most elements of a part.
inline constexpr std::int64_t kPartElements = 2048;
/// Parts of ranges, in their order.
[[nodiscard]] std::vector<UpdatePart> update_parts(std::span<const UpdateRange> ranges);

/// A range of an update, for rules that look at norms of layers.
struct UpdateLayer {
  double weight_decay = 0.0;
  std::int32_t first_part = 0;
  std::int32_t part_count = 0;
  std::int32_t is_layer = 0;  ///< 1: UpdateRange::is_layer
};
/// One for each range, with the parts that update_parts() made of it.
[[nodiscard]] std::vector<UpdateLayer> update_layers(std::span<const UpdateRange> ranges,
                                                     std::span<const UpdatePart> parts);

/// An update as a rule's kernel takes it. All pointers are to device memory.
struct UpdateCall {
  runtime::Stream& stream;              ///< where kernels are queued
  const UpdateWork& work;               ///< numbers of this step
  const StepState* state = nullptr;     ///< clipped scale; where it is unsound, nothing is written
  const UpdatePart* parts = nullptr;    ///< parts of all ranges
  std::int64_t part_count = 0;          ///< at least 1
  const UpdateLayer* layers = nullptr;  ///< one a range, for rules that look at norms of layers
  double* squares = nullptr;            ///< scratch of these rules: two a part
  float* factors = nullptr;             ///< scratch of these rules: one a range
};

// Every rule of the list has this, in the file of its name.
#define RG_UPDATE_KERNEL(Rule)                       \
  /** Queues the update of all parts by the rule. */ \
  void update(const Rule& rule, const UpdateCall& call);
RG_UPDATE_LIST(RG_UPDATE_KERNEL)
#undef RG_UPDATE_KERNEL

/// Update rules on one device. One thread.
class Updates {
 public:
  /// Device and stream must outlive it. `state`: in device memory.
  Updates(runtime::Device& device, runtime::Stream& stream, StepState* state);
  /// See Executable::update(). The first call with other ranges allocates and waits.
  const runtime::Event& run(const UpdateRule& rule, const UpdateWork& work);
  /// See Executable::read_norm(). Waits for the update.
  [[nodiscard]] double read_norm() const;

 private:
  /// Ranges cut into parts, in device memory.
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
  std::unique_ptr<runtime::DeviceBuffer> partial_;
  std::unique_ptr<runtime::PinnedBuffer> norm_;
  std::unique_ptr<runtime::DeviceBuffer> norm_on_device_;
  std::unique_ptr<runtime::Event> norm_ready_;
  std::unique_ptr<runtime::Event> done_;
  std::vector<std::unique_ptr<Parts>> parts_;
};

}  // namespace roentgen::engine::cuda
