// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan: the list of kernel calls (entries) of a step, with the tensors that each reads and writes, and their memory.
// Lifetimes, memory, bucket order and profile are computed from the plan alone.
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

/// Key of Plan::choices that records the type in which values are stored.
inline constexpr std::string_view kDtypeChoice = "dtype";

/// Index into Plan::tensors.
using TensorId = std::int32_t;

/// Kind of memory that a tensor lies in. Planned: the activation arena, only while entries need it. Workspace: scratch
/// with a separate replica for each thread (Plan::replicas), stored after the planned tensors. The other kinds have
/// separate memory.
enum class Storage : std::uint8_t { Planned, Input, Parameter, Gradient, State, Kept, Workspace };

/// A piece of memory that entries read and write.
struct PlanTensor {
  std::string name;                    ///< name of a value, parameter or scratch
  std::size_t bytes = 0;               ///< size in bytes; for Workspace, of one replica
  Storage storage = Storage::Planned;  ///< memory that the tensor lies in
  /// Memory layout, such as "nChw16c", "nchw" or "nc"; part of the printed plan and its hash.
  std::string layout;
  /// Type of the elements of values and gradients. Scratch has no type.
  DType dtype = DType::F32;
  /// Offset in bytes from the start of the arena of its storage; for Workspace, of the first replica.
  std::size_t offset = 0;
  /// First entry that uses the tensor; -1 if none does.
  std::int32_t first = -1;
  std::int32_t last = -1;  ///< last entry that uses the tensor; -1 if none does
};

/// Part of an op that an entry computes.
enum class Pass : std::uint8_t { Forward, BackwardData, BackwardWeights, Auxiliary };
[[nodiscard]] std::string_view name_of(Pass pass);  ///< "forward", "backward_data", "backward_weights" or "auxiliary"

/// One kernel call of a step.
struct PlanEntry {
  /// Node and pass, such as "layer1.0.conv1/backward_data".
  std::string name;
  /// Kind of kernel, such as "conv2d", "reorder" or "gradient_sum". The profile has one row for each kind.
  std::string kind;
  graph::NodeId node = -1;       ///< node of Executable::graph(); -1 if it belongs to none
  Pass pass = Pass::Forward;     ///< part of the op that it computes
  std::vector<TensorId> reads;   ///< tensors that it reads
  std::vector<TensorId> writes;  ///< tensors that it writes
  /// Chosen implementation, such as "jit:avx512_core" or "batch_norm_relu:avx3".
  std::string implementation;
  /// Floating-point operations, computed from the shapes.
  std::int64_t flops = 0;
  std::int64_t bytes = 0;  ///< bytes read and written, computed from the shapes
};

/// Memory of an executable, in bytes.
struct MemoryReport {
  std::size_t activations = 0;  ///< arena of planned tensors of forward and backward, with the workspace
  std::size_t workspace = 0;    ///< part of `activations`: all replicas of the workspace, with padding
  std::size_t parameters = 0;   ///< trained parameters
  std::size_t gradients = 0;    ///< gradients of the trained parameters
  std::size_t state = 0;        ///< running statistics
  std::size_t inputs = 0;       ///< slots of all inputs
  std::size_t kept = 0;         ///< constants and outputs, which keep their values between steps
  /// Sum of all parts; `workspace` is already counted in `activations`.
  [[nodiscard]] std::size_t total() const { return activations + parameters + gradients + state + inputs + kept; }
  /// Returns a line such as "1249.1 MiB: activations 904.2 (scratch of threads 8.0), parameters 89.7, gradients 89.7,
  /// inputs 18.4, optimizer 89.7". `more` adds named parts, such as the optimizer's. "other" is state plus kept. Empty
  /// parts are left out.
  [[nodiscard]] std::string text(const std::vector<std::pair<std::string, std::size_t>>& more = {}) const;
};

/// All kernel calls of a training or inference step, and their memory.
struct Plan {
  std::vector<PlanTensor> tensors;  ///< tensors that the entries use
  std::vector<PlanEntry> entries;   ///< kernel calls in the order they run
  /// Entries that compute folded weights from parameters. They run in the first forward after parameters were loaded.
  std::vector<PlanEntry> preparations;
  /// Number of entries of the forward pass; the entries from this index on are the backward pass.
  std::int32_t forward_end = 0;
  /// bucket_ready[i] = number of gradient buckets that are final after entry i.
  std::vector<std::int32_t> bucket_ready;
  /// Kernel choices that a resumed run must use again: "<node>/<pass>" -> "direct", "winograd", "split", "split2",
  /// "bf16", "winograd_bf16" or "pointwise". Also "dtype" -> "tf32", "bf16" or "f16" if it is not f32.
  std::map<std::string, std::string> choices;
  /// Revision of the kernel selector that made the choices; 0 if the engine has no kernel selector.
  std::int64_t choice_revision = 0;
  /// Number of kernel choices taken from ChoiceInputs::measured.
  std::int64_t measured_choices = 0;
  /// Number of times that each fusion of graph/passes/pass_list.h was made, by its name.
  std::map<std::string, std::int64_t> fused;
  /// Role of each batch norm in training, by node name: "own" if it has its own kernel, otherwise the parts that
  /// neighbouring kernels compute.
  std::map<std::string, std::string> norm_roles;
  MemoryReport memory;  ///< memory use in bytes
  /// Number of replicas of each workspace tensor: one per compute thread.
  int replicas = 1;
  /// Distance in bytes between replicas; 0 if there are no workspace tensors.
  std::size_t replica_stride_bytes = 0;

  /// Type that compile() chose for CompileOptions::dtype: "f32", "tf32", "bf16" or "f16".
  [[nodiscard]] std::string dtype() const;
  /// Returns text with one line per entry: name, implementation, tensors read and written, offsets.
  [[nodiscard]] std::string text() const;
  /// Hash of choices, layouts and implementations as 16 hex digits. Plans with equal hashes compute the same bits on
  /// the same machine with the same number of threads.
  [[nodiscard]] std::string hash() const;
};

/// Time spent in one plan entry.
struct EntryTime {
  std::int32_t entry = 0;  ///< index into Plan::entries
  std::int64_t calls = 0;  ///< number of runs
  double seconds = 0.0;    ///< total time in seconds
  /// Time of the fastest run in seconds; 0 before the first run.
  double best_s = 0.0;
};

}  // namespace roentgen::engine
