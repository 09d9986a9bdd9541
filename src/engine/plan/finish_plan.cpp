// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/finish_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "engine/plan/memory_plan.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::engine {
namespace {
template <typename Count>
Count round_up(Count count, Count unit) {
  return (count + unit - 1) / unit * unit;
}

std::int64_t align_elements(std::int64_t count) {
  return round_up<std::int64_t>(count, runtime::AlignedBuffer::kAlignment / sizeof(float));
}

// For each tensor: the tensor whose memory it shares after in-place writes, and the last entry that needs this memory.
struct Sharing {
  std::vector<TensorId> root;
  std::vector<std::int32_t> last;
};

Sharing share_memory(const PlanBuilder& builder) {
  const std::vector<PlanTensor>& tensors = builder.plan.tensors;
  Sharing sharing;
  std::vector<TensorId>& root = sharing.root;
  root.resize(tensors.size());
  std::iota(root.begin(), root.end(), 0);
  for (const PlanTensor& tensor : tensors) sharing.last.push_back(tensor.last);
  const auto find = [&](TensorId id) {
    while (root[static_cast<std::size_t>(id)] != id) id = root[static_cast<std::size_t>(id)];
    return id;
  };
  for (const PlanBuilder::InPlace& offer : builder.in_place) {
    const TensorId a = find(offer.source);
    const TensorId b = find(offer.target);
    const PlanTensor& source = tensors[static_cast<std::size_t>(a)];
    const PlanTensor& target = tensors[static_cast<std::size_t>(b)];
    const bool fits = a != b && source.storage == Storage::Planned && target.storage == Storage::Planned &&
                      source.bytes == target.bytes && sharing.last[static_cast<std::size_t>(a)] == offer.entry &&
                      target.first == offer.entry;
    if (!fits) continue;
    root[static_cast<std::size_t>(b)] = a;
    sharing.last[static_cast<std::size_t>(a)] = std::max(offer.entry, sharing.last[static_cast<std::size_t>(b)]);
  }
  for (std::size_t i = 0; i < root.size(); ++i) root[i] = find(static_cast<TensorId>(i));
  return sharing;
}

std::size_t assign_planned(PlanBuilder& builder) {
  std::vector<PlanTensor>& tensors = builder.plan.tensors;
  const Sharing sharing = share_memory(builder);
  const std::vector<TensorId>& root = sharing.root;
  std::vector<Lifetime> lifetimes;
  std::vector<TensorId> owners;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const PlanTensor& tensor = tensors[i];
    if (tensor.storage != Storage::Planned || root[i] != static_cast<TensorId>(i) || tensor.first < 0) continue;
    lifetimes.push_back({tensor.bytes, tensor.first, sharing.last[i]});
    owners.push_back(static_cast<TensorId>(i));
  }
  const std::vector<std::size_t> offsets = assign_offsets(lifetimes, runtime::AlignedBuffer::kAlignment);
  for (std::size_t i = 0; i < owners.size(); ++i) tensors[static_cast<std::size_t>(owners[i])].offset = offsets[i];
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].storage == Storage::Planned) tensors[i].offset = tensors[static_cast<std::size_t>(root[i])].offset;
  }
  return arena_bytes(lifetimes, offsets);
}

// Places the workspace after the arena of `bytes` bytes. All tensors of a replica have the same offset in every entry,
// so that no other replica writes there. Returns the size of arena and workspace together in bytes.
std::size_t assign_workspace(PlanBuilder& builder, std::size_t bytes) {
  std::size_t most = 0;
  for (const PlanTensor& tensor : builder.plan.tensors) {
    if (tensor.storage == Storage::Workspace) most = std::max(most, tensor.bytes);
  }
  if (most == 0) return bytes;
  const std::size_t alignment = builder.replica_alignment(most);
  const std::size_t begin = round_up(bytes, alignment);
  const std::size_t stride = round_up(most, alignment);
  for (PlanTensor& tensor : builder.plan.tensors) {
    if (tensor.storage == Storage::Workspace) tensor.offset = begin;
  }
  builder.plan.replica_stride_bytes = stride;
  return begin + stride * static_cast<std::size_t>(builder.plan.replicas);
}

// Trained parameters, in the order in which their gradients become final. Those without a gradient are last.
std::vector<std::int32_t> gradient_order(const PlanBuilder& builder) {
  std::vector<std::pair<std::int32_t, std::int32_t>> ready;
  for (std::size_t i = 0; i < builder.places.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    if (!graph::is_trained(builder.graph().parameter(index).role)) continue;
    const TensorId gradient = builder.places[i].gradient;
    std::int32_t last = gradient >= 0 ? builder.plan.tensors[static_cast<std::size_t>(gradient)].last : -1;
    if (last < 0) last = std::numeric_limits<std::int32_t>::max();
    ready.emplace_back(last, index);
  }
  std::ranges::stable_sort(ready, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::int32_t> order;
  for (const auto& [last, index] : ready) order.push_back(index);
  return order;
}

void lay_out_parameters(PlanBuilder& builder, Arenas& arenas) {
  std::vector<PlanTensor>& tensors = builder.plan.tensors;
  const auto bucket_elements = static_cast<std::int64_t>(builder.options().bucket_bytes / sizeof(float));
  std::vector<std::int32_t> bucket_last;
  for (const std::int32_t index : gradient_order(builder)) {
    const PlanBuilder::ParameterPlace& place = builder.places[static_cast<std::size_t>(index)];
    const std::int64_t count = place.layout->elements();
    const bool starts_bucket = arenas.buckets.empty() || arenas.buckets.back().count >= bucket_elements;
    if (starts_bucket) {
      arenas.buckets.push_back({arenas.parameters, 0});
      bucket_last.push_back(-1);
    }
    for (const TensorId id : {place.tensor, place.gradient}) {
      if (id < 0) continue;
      PlanTensor& tensor = tensors[static_cast<std::size_t>(id)];
      tensor.bytes = static_cast<std::size_t>(count) * sizeof(float);
      tensor.offset = static_cast<std::size_t>(arenas.parameters) * sizeof(float);
      tensor.layout = place.layout->name();
    }
    if (place.gradient >= 0) {
      bucket_last.back() = std::max(bucket_last.back(), tensors[static_cast<std::size_t>(place.gradient)].last);
    }
    arenas.parameters += align_elements(count);
    arenas.buckets.back().count = arenas.parameters - arenas.buckets.back().begin;
  }
  std::vector<std::int32_t>& ready = builder.plan.bucket_ready;
  ready.assign(builder.plan.entries.size(), 0);
  std::int32_t done = 0;
  for (std::size_t entry = 0; entry < ready.size(); ++entry) {
    while (done < static_cast<std::int32_t>(bucket_last.size()) &&
           bucket_last[static_cast<std::size_t>(done)] <= static_cast<std::int32_t>(entry)) {
      ++done;
    }
    ready[entry] = done;
  }
}

void lay_out_state(PlanBuilder& builder, Arenas& arenas) {
  for (std::size_t i = 0; i < builder.places.size(); ++i) {
    const PlanBuilder::ParameterPlace& place = builder.places[i];
    PlanTensor& tensor = builder.plan.tensors[static_cast<std::size_t>(place.tensor)];
    if (tensor.storage != Storage::State) continue;
    tensor.bytes = static_cast<std::size_t>(place.layout->elements()) * sizeof(float);
    tensor.offset = static_cast<std::size_t>(arenas.state) * sizeof(float);
    tensor.layout = place.layout->name();
    arenas.state += align_elements(place.layout->elements());
  }
}
}  // namespace

Arenas finish_plan(PlanBuilder& builder) {
  Arenas arenas;
  MemoryReport& memory = builder.plan.memory;
  const std::size_t planned = assign_planned(builder);
  memory.activations = assign_workspace(builder, planned);
  memory.workspace = memory.activations - planned;
  lay_out_parameters(builder, arenas);
  lay_out_state(builder, arenas);
  memory.parameters = static_cast<std::size_t>(arenas.parameters) * sizeof(float);
  memory.gradients = builder.is_training() ? memory.parameters : 0;
  memory.state = static_cast<std::size_t>(arenas.state) * sizeof(float);
  std::size_t kept = 0;
  for (PlanTensor& tensor : builder.plan.tensors) {
    if (tensor.storage == Storage::Kept) {
      tensor.offset = kept;
      kept += runtime::align_up(tensor.bytes);
    } else if (tensor.storage == Storage::Input) {
      memory.inputs += runtime::align_up(tensor.bytes) * static_cast<std::size_t>(builder.options().slots);
    }
  }
  memory.kept = kept;
  // Computes the bytes per entry now, because parameter layouts were not known before.
  for (PlanEntry& entry : builder.plan.entries) {
    entry.bytes = 0;
    for (const std::vector<TensorId>* ids : {&entry.reads, &entry.writes}) {
      for (const TensorId id : *ids) {
        const PlanTensor& tensor = builder.plan.tensors[static_cast<std::size_t>(id)];
        const int owners = tensor.storage == Storage::Workspace ? builder.plan.replicas : 1;
        entry.bytes += static_cast<std::int64_t>(tensor.bytes) * owners;
      }
    }
  }
  return arenas;
}

}  // namespace roentgen::engine
