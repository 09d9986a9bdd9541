// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan: the flat list of entries a step consists of, with what each reads and writes, and the memory they live in.
// Lifetimes, memory, bucket order and profile come from the plan alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace roentgen::engine {

/// The key of Plan::choices that says what values are stored in.
inline constexpr std::string_view kDtypeChoice = "dtype";

/// Index into Plan::tensors.
using TensorId = std::int32_t;

/// Memory of a tensor. Planned: in the arena, for the entries of its lifetime. Workspace: scratch in Plan::replicas
/// replicas, one for each thread; all tensors of this storage start at one place behind the planned ones. The others
/// have memory of their own.
enum class Storage : std::uint8_t { Planned, Input, Parameter, Gradient, State, Kept, Workspace };

/// A piece of memory that entries read and write.
struct PlanTensor {
  std::string name;                    ///< name of a value, parameter or scratch
  std::size_t bytes = 0;               ///< Workspace: of one replica
  Storage storage = Storage::Planned;  ///< storage it lives in
  /// "nChw16c", "nchw", "nc": for the printed plan and its hash.
  std::string layout;
  /// Type of its elements, for values and gradients; scratch is untyped bytes.
  DType dtype = DType::F32;
  /// Byte offset: into the arena of its storage. Workspace: of the first replica.
  std::size_t offset = 0;
  /// Lifetime: first and last entry that touches it; -1 when none does.
  std::int32_t first = -1;
  std::int32_t last = -1;  ///< last entry that touches it; -1: none
};

/// Part of an op that an entry computes.
enum class Pass : std::uint8_t { Forward, BackwardData, BackwardWeights, Auxiliary };
[[nodiscard]] std::string_view name_of(Pass pass);  ///< "forward", "backward_data", "backward_weights" or "auxiliary"

/// One kernel call of a step.
struct PlanEntry {
  /// "layer1.0.conv1/backward_data".
  std::string name;
  /// Kind of kernel ("conv2d", "reorder", "gradient_sum"): rows of the profile.
  std::string kind;
  graph::NodeId node = -1;       ///< node of Executable::graph(); -1: none
  Pass pass = Pass::Forward;     ///< part of the op
  std::vector<TensorId> reads;   ///< tensors that it reads
  std::vector<TensorId> writes;  ///< tensors that it writes
  /// Implementation chosen ("jit:avx512_core", "batch_norm_relu:avx3").
  std::string implementation;
  /// Floating-point operations and bytes moved to and from memory, counted, not measured.
  std::int64_t flops = 0;
  std::int64_t bytes = 0;  ///< bytes moved to and from memory, counted
};

/// Memory of an executable, in bytes.
struct MemoryReport {
  std::size_t activations = 0;  ///< arena of planned tensors, forward and backward, and the workspace
  std::size_t workspace = 0;    ///< part of activations: all replicas of the workspace, with padding
  std::size_t parameters = 0;   ///< trained parameters
  std::size_t gradients = 0;    ///< gradients of the trained parameters
  std::size_t state = 0;        ///< running statistics
  std::size_t inputs = 0;       ///< slots of all inputs
  std::size_t kept = 0;         ///< per-executable constants and outputs
  /// Sum; `workspace` is in activations.
  [[nodiscard]] std::size_t total() const { return activations + parameters + gradients + state + inputs + kept; }
  /// Text: "1249.1 MiB: activations 904.2 (scratch of threads 8.0), parameters 89.7, gradients 89.7, inputs 18.4,
  /// optimizer 89.7". `more` adds parts by name that the report does not know. "other" is state and kept. Empty parts
  /// are left out.
  [[nodiscard]] std::string text(const std::vector<std::pair<std::string, std::size_t>>& more = {}) const;
};

/// A whole step.
struct Plan {
  std::vector<PlanTensor> tensors;  ///< all that entries touch
  std::vector<PlanEntry> entries;   ///< kernel calls in the order they run
  /// Entries that derive folded weights from parameters: run by the first forward after these were loaded.
  std::vector<PlanEntry> preparations;
  /// Entries [0, forward_end) are the forward.
  std::int32_t forward_end = 0;
  /// bucket_ready[i] = number of buckets final after entry i.
  std::vector<std::int32_t> bucket_ready;
  /// Kernel choices that a resumed run must use again: "<node>/<pass>" -> "direct", "winograd", "split", "split2",
  /// "bf16", "winograd_bf16" or "pointwise". Also "dtype" -> "tf32", "bf16" or "f16" if it is not f32.
  std::map<std::string, std::string> choices;
  /// Revision of the rule that chose; 0: the engine has no rule.
  std::int64_t choice_revision = 0;
  /// Choices taken from ChoiceInputs::measured.
  std::int64_t measured_choices = 0;
  /// Number of times that each fusion of graph/passes/pass_list.h was made, by name. Follows from the entries.
  std::map<std::string, std::int64_t> fused;
  /// Role of every batch norm of a training step, by node: "own", or the parts that kernels around it compute.
  std::map<std::string, std::string> norm_roles;
  MemoryReport memory;  ///< bytes of all storage
  /// Replicas of tensors of Storage::Workspace: one for each compute thread.
  int replicas = 1;
  /// Bytes from one replica to the next one; 0 without such tensors.
  std::size_t replica_stride_bytes = 0;

  /// "f32", "tf32", "bf16" or "f16": what CompileOptions::dtype came to.
  [[nodiscard]] std::string dtype() const;
  /// Text with one line per entry: name, implementation, reads, writes, offsets.
  [[nodiscard]] std::string text() const;
  /// 16 hex digits over choices, layouts and implementations: equal hashes compute the same bits on the same machine
  /// with the same thread count.
  [[nodiscard]] std::string hash() const;
};

/// Time spent in one entry.
struct EntryTime {
  std::int32_t entry = 0;  ///< index into Plan::entries
  std::int64_t calls = 0;  ///< times that it ran
  double seconds = 0.0;    ///< seconds of all calls
  /// Seconds of the fastest call; 0 before the first.
  double best_s = 0.0;
};

}  // namespace roentgen::engine
