// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/plan_memory.h"

#include <utility>
#include <vector>

namespace roentgen::engine {
namespace {
std::byte* begin_of(const Arena& arena) { return reinterpret_cast<std::byte*>(arena.device({}).address); }
}  // namespace

PlanMemory::PlanMemory(const Plan& plan, const Arenas& arenas, Form form, runtime::Device& device,
                       runtime::Stream& stream)
    : device_(device),
      stream_(stream),
      activations_(device.make_device_buffer(plan.memory.activations)),
      parameters_(std::make_unique<Arena>(device, stream, arenas.parameters)),
      gradients_(std::make_unique<Arena>(device, stream, form == Form::Training ? arenas.parameters : 0)),
      state_(std::make_unique<Arena>(device, stream, arenas.state)),
      kept_(device.make_device_buffer(plan.memory.kept)),
      addresses_({}) {
  std::vector<std::byte*> addresses;
  std::vector<bool> is_narrow;
  for (const PlanTensor& tensor : plan.tensors) {
    std::byte* const base = base_of(tensor.storage);
    addresses.push_back(base == nullptr ? nullptr : base + tensor.offset);
    is_narrow.push_back(size_of(tensor.dtype) == 2);
  }
  addresses_ =
      Addresses(std::move(addresses), std::move(is_narrow), static_cast<std::int64_t>(plan.replica_stride_bytes));
}

std::unique_ptr<Arena> PlanMemory::make_arena(ArenaKind kind) const {
  const Arena& like = kind == ArenaKind::Trained ? *parameters_ : *state_;
  return std::make_unique<Arena>(device_, stream_, like.elements());
}

std::byte* PlanMemory::base_of(Storage storage) const {
  switch (storage) {
    case Storage::Parameter:
      return begin_of(*parameters_);
    case Storage::Gradient:
      return begin_of(*gradients_);
    case Storage::State:
      return begin_of(*state_);
    case Storage::Kept:
      return kept_->address();
    case Storage::Input:
      return nullptr;
    default:
      return activations_->address();
  }
}

}  // namespace roentgen::engine
