// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Interfaces Engine, which compiles a graph, and Executable, which runs training or inference steps of it. The
// implementations are in engine/cpu and engine/cuda.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"
#include "engine/arena.h"
#include "engine/compute_type.h"
#include "engine/device.h"
#include "engine/inputs.h"
#include "engine/loss_scale.h"
#include "engine/plan.h"
#include "engine/update/update_list.h"
#include "graph/graph.h"
#include "graph/passes/pass_list.h"

namespace roentgen::runtime {
class WireKernels;
}

namespace roentgen::engine {

/// Purpose that an executable is compiled for. Training: batch statistics, dropout and backward. Inference: running
/// statistics, no dropout, and no values kept for a backward pass.
enum class Form : std::uint8_t { Training, Inference };
/// Returns the purpose of graph passes and fusions that belongs to a form.
[[nodiscard]] constexpr graph::Purpose purpose_of(Form form) {
  return form == Form::Training ? graph::Purpose::Training : graph::Purpose::Inference;
}

/// Function that replaces each element of `sums` by its sum over all ranks; every rank gets the same bits. Called
/// during forward() and backward() on the thread that drives the executable. All ranks have equal plans and call it in
/// the same order. Returns when the sums are complete.
/// @param ready event that is reached once this rank's own sums are in `sums`
/// @param index number of the batch norm, which the error names if another rank does not answer in time
using SumOverRanks =
    std::function<void(runtime::DeviceSpan<double> sums, const runtime::Event& ready, std::int64_t index)>;

/// Ranks that share batch norm statistics (synchronised batch norm): forward and backward use mean and variance over
/// the images of all these ranks.
struct NormGroup {
  int ranks = 1;       ///< number of ranks
  SumOverRanks sum{};  ///< sums over the ranks; empty if ranks is 1
};

/// Inputs of the kernel selector, in addition to graph and options. Ranks with equal inputs choose the same kernels.
struct ChoiceInputs {
  /// Instruction set that kernels may use, a value of Engine::instruction_set(). Empty: this machine's instruction set.
  std::string instruction_set{};
  /// Number of threads for which training kernels are chosen; 0: CompileOptions::threads.
  int threads = 0;
  /// Algorithms chosen by measurement, which training uses instead of the kernel selector's: MeasuredChoice::layer ->
  /// algorithm.
  std::map<std::string, std::string> measured{};
};

/// Algorithms of convolutions.
/// Auto: on the CPU, a rule chooses for each layer and pass between oneDNN's direct convolution and our kernels. These
/// are Winograd, split products (with bf16 tiles) and pointwise kernels (with AVX-512 but no bf16 tiles). The rule
/// times nothing: it uses layer, pass, instruction set and, in training, batch size and threads. On CUDA, training uses
/// cuDNN's fastest plan, timed once per card; inference uses the first plan of cuDNN's heuristic.
/// Heuristic: like Auto, but never timed. Direct: only direct convolutions; on CUDA like Heuristic.
/// The other values are for tests: each algorithm is used for every pass that it can compute.
enum class Algorithms : std::uint8_t { Auto, Direct, Winograd, Split, Split2, Pointwise, Heuristic };
/// Returns "auto", "direct", "winograd", "split", "split2", "pointwise" or "heuristic".
[[nodiscard]] std::string_view name_of(Algorithms algorithms);
/// Returns the value with this name. Throws ConfigError if the name is unknown.
[[nodiscard]] Algorithms parse_algorithms(std::string_view name);

/// Options of compile().
struct CompileOptions {
  Form form = Form::Training;  ///< training or inference
  /// Number of compute threads; 0: all cores that the process may use.
  int threads = 0;
  /// Number of input slots, which are host buffers for one batch each: the loader fills one slot while a step reads
  /// another.
  int slots = 2;
  /// Normalisation of the input whose slots hold integer pixels; nullopt: all slots hold f32 values. Changes results
  /// only by rounding.
  std::optional<InputNorm> input_norm{};
  /// Size in bytes at which a gradient bucket is full and the next parameter begins a new one.
  std::size_t bucket_bytes = 4U << 20;
  /// Graph passes to run and fusions to make, by their names in graph/passes/pass_list.h. "on": all. "off": none.
  /// "name,name": these. "on,-name": all but this one. Changes results only by rounding.
  std::string fuse = "on";
  /// Algorithms of convolutions. They differ in rounding, so the plan records each choice and a resumed run uses the
  /// same ones.
  Algorithms algorithms = Algorithms::Auto;
  ChoiceInputs choice{};  ///< inputs of the kernel selector
  /// Type in which activations and their gradients are stored. Parameters, their gradients and sums stay f32.
  /// Bf16: convolutions multiply bf16 values and sum in f32. On the CPU, Auto may choose Winograd in f32 where it is
  /// faster. F16: like Bf16, but gradients are scaled by LossScale; CUDA only. ComputeType::tf32(): values are f32, and
  /// products round their factors to TF32; CUDA only, from compute capability 8.0.
  /// Nullopt: bf16 in training if the instruction set can multiply bf16, otherwise f32. Ignored if `choices` is set,
  /// because it records the type. Inference on the CPU always computes in f32.
  std::optional<ComputeType> dtype = DType::F32;
  /// Options of the loss scale, which only F16 uses.
  LossScaling loss_scaling{};
  /// Values that backward recomputes, bit for bit, instead of keeping them from forward. "auto": values that another
  /// kernel can write because it reads their input anyway (CUDA has no such kernel). "all": also values that need
  /// another pass over memory. "none": no values.
  std::string recompute = "auto";
  /// Kernel choices of a stored Plan, which a resumed run must use again. ConfigError if they do not fit the graph.
  std::map<std::string, std::string> choices{};
  /// Seed of the random numbers of dropout.
  std::uint64_t seed = 0;
  /// Ranks that share batch norm statistics in training; null: each rank uses only its own batch.
  std::shared_ptr<const NormGroup> norm_group{};
};

/// Kind of parameters that an arena holds. Trained: parameters that have gradients. State: running statistics.
enum class ArenaKind : std::uint8_t { Trained, State };

/// Range of arena elements that belong to one parameter, equal in all arenas of one kind.
struct ParameterSlice {
  /// Index into Graph::parameters().
  std::int32_t parameter = 0;
  /// First element. The parameter is stored in kernel layout, with padding.
  std::int64_t begin = 0;
  std::int64_t count = 0;  ///< number of elements, with padding
};

/// Range of the gradient arena whose gradients become ready together. Buckets are in the order of backward.
using Bucket = ArenaRange;

/// Function that backward() calls for each bucket of the gradient arena, in order, on its own thread.
/// @param ready event that is reached once the bucket is final; valid until the next backward()
using BucketCallback = std::function<void(std::int64_t index, const runtime::Event& ready)>;

/// A compiled graph with its memory. One thread drives it; other threads may fill slots that are not bound. forward(),
/// backward() and update() only queue work, in order; functions that return results to the host wait for it. On the CPU
/// the work is done when they return. No function allocates memory after compile() unless its comment says so.
class Executable {
 public:
  virtual ~Executable() = default;

  /// Graph after the graph passes. Its parameter indices equal those of the graph given to compile().
  [[nodiscard]] virtual const graph::Graph& graph() const = 0;
  [[nodiscard]] virtual const Plan& plan() const = 0;  ///< kernel calls of a step and their memory
  /// Device on which the arenas lie. Streams and events that others make on it must be destroyed before this
  /// executable.
  [[nodiscard]] virtual runtime::Device& memory_device() const = 0;
  /// Kernels of memory_device() for gradients in messages of 16 bits; null: none. They live until the program ends.
  [[nodiscard]] virtual const runtime::WireKernels* wire_kernels() const { return nullptr; }

  /// Inputs of the graph, in graph order.
  [[nodiscard]] virtual const std::vector<InputSpec>& inputs() const = 0;
  /// Host memory of one input in one slot: inputs()[input].bytes bytes, 64-byte aligned, zero after compile().
  [[nodiscard]] virtual std::span<std::byte> slot(std::int64_t input, int slot) = 0;
  /// Chooses the slot that the next forward() reads; slot 0 before the first call. The slot must already hold its
  /// batch, because a GPU starts its upload here while earlier work runs. After refilling a slot, call this again: a
  /// GPU reads its own copy. In inference, call it before reading the results of the last forward().
  /// The slot may be refilled when the backward() of its batch has returned; in inference, when its forward() has
  /// returned.
  virtual void bind_slot(int slot) = 0;
  /// Sets the number of the step, from which dropout derives its random numbers.
  virtual void set_step(std::int64_t step) = 0;

  /// Queues the forward entries. In inference, the first call and each first call after loading parameters also run the
  /// plan's preparations, which allocate.
  virtual void forward() = 0;
  /// Queues the backward entries, which overwrite the gradient arena. Needs Form::Training and an earlier forward().
  virtual void backward(const BucketCallback& on_bucket) = 0;
  /// Waits for an output of the last forward() and returns it as row-major f32; valid until the next forward().
  [[nodiscard]] virtual std::span<const float> read(std::string_view name) const = 0;

  /// Begins the forward passes of one update: if one of their losses is not finite, update() changes nothing.
  virtual void begin_update() = 0;
  /// Queues an update of ranges of an arena by an update rule, such as an optimizer's. Changes nothing if a loss since
  /// begin_update() was not finite or, with clip_norm set, the gradient norm is not. With a loss scale, an optimizer's
  /// update divides the gradients by the scale. It also adjusts the scale, so it must take all ranges at once. On a
  /// GPU, the first call with new ranges allocates and waits.
  /// @return event that is reached once the update is done; the next update() records it again
  virtual const runtime::Event& update(const UpdateRule& rule, const UpdateWork& work) = 0;
  /// Waits for and returns the L2 norm of the scaled source of the last update() that had UpdateWork::clip_norm.
  [[nodiscard]] virtual double read_norm() const = 0;

  /// Waits for the loss of the last forward() and returns the loss scale that it used; nullopt if gradients are not
  /// scaled.
  [[nodiscard]] virtual std::optional<LossScale> loss_scale() const { return std::nullopt; }
  /// Waits for the last update() and returns the loss scale after it; nullopt if gradients are not scaled.
  [[nodiscard]] virtual std::optional<LossScale> read_loss_scale() const { return std::nullopt; }
  /// Sets the loss scale of the next step. Does nothing if gradients are not scaled.
  virtual void set_loss_scale(const LossScale& scale) { static_cast<void>(scale); }

  /// Arena of the trained parameters, in bucket order and kernel layout. Padding elements are zero, and stay zero under
  /// update rules that map zero gradients and zero weights to zero. In inference, call it after each forward() before
  /// writing to it again: the call tells the executable that parameters change.
  [[nodiscard]] virtual Arena& parameters() = 0;
  [[nodiscard]] virtual const Arena& parameters() const = 0;  ///< read-only
  /// Gradients of the last backward() in the layout of parameters(), multiplied by the loss scale if there is one.
  /// Empty in inference.
  [[nodiscard]] virtual Arena& gradients() = 0;
  [[nodiscard]] virtual const Arena& gradients() const = 0;  ///< read-only
  /// Arena of the running statistics. In inference, call it after each forward() before writing to it again.
  [[nodiscard]] virtual Arena& state() = 0;
  [[nodiscard]] virtual const Arena& state() const = 0;  ///< read-only
  /// Makes an arena of zeros with the layout of this kind. Allocates. The executable must outlive the arena.
  [[nodiscard]] virtual std::unique_ptr<Arena> make_arena(ArenaKind kind) = 0;
  [[nodiscard]] virtual const std::vector<ParameterSlice>& slices() const = 0;  ///< ranges of all trained parameters
  /// Buckets in the order in which backward() fills them.
  [[nodiscard]] virtual const std::vector<Bucket>& buckets() const = 0;

  /// Returns the row-major values of a parameter from an arena of its kind. Allocates.
  [[nodiscard]] virtual std::vector<float> store(std::int32_t parameter, const Arena& arena) const = 0;
  /// Writes row-major values of a parameter into an arena of its kind. Throws ShapeError unless `values` has as many
  /// elements as the parameter. May allocate.
  virtual void load(std::int32_t parameter, std::span<const float> values, Arena& arena) const = 0;
  /// Returns the executable's own values of a parameter or state tensor, as store() does.
  [[nodiscard]] std::vector<float> store(std::int32_t parameter) const;
  /// Sets the executable's own values of a parameter or state tensor, as load() does.
  void load(std::int32_t parameter, std::span<const float> values);
  /// Returns the gradient of a trained parameter, without the loss scale. Call it after backward() and before update().
  [[nodiscard]] std::vector<float> store_gradient(std::int32_t parameter) const;

  /// Host time of each plan entry since reset_profile(), in plan order. On a GPU it is only the time to queue the
  /// kernel.
  [[nodiscard]] virtual std::vector<EntryTime> profile() const = 0;
  virtual void reset_profile() = 0;  ///< sets the times of profile() to zero
  /// Runs one entry `repeats` times on the buffers of the step and returns the fastest time in seconds, so caches are
  /// warm. Overwrites the step's values: use it in benchmarks after the step was measured.
  [[nodiscard]] virtual double time_entry(std::int32_t entry, int repeats);
};

/// Returns the kind of arena that holds a parameter.
[[nodiscard]] ArenaKind arena_kind(const graph::Parameter& parameter);
/// Copies parameters and running statistics to another executable of the same graph, such as from training to
/// inference.
void copy_parameters(const Executable& from, Executable& to);
/// Loads graph::initial_values() of every parameter.
void initialise(Executable& executable, std::uint64_t seed);

/// Measured times of all algorithms that can compute one pass of a convolution.
struct MeasuredChoice {
  /// "<node>/<pass>", as in Plan::choices.
  std::string name;
  /// Text of layer, pass, value type, threads and instruction set. Passes with equal text take equal time.
  std::string layer;
  /// Algorithm that the plan uses.
  std::string chosen;
  /// Fastest of several runs in seconds, by algorithm.
  std::map<std::string, double> seconds;
};

/// Makes executables for one kind of device. Thread-compatible.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Name of the engine: "cpu" or "cuda".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Reason why the device "auto" (device.h) must not choose this engine; empty if it may.
  [[nodiscard]] virtual std::string why_not_auto() const { return {}; }
  /// Type that image slots should hold for best speed: U16 or U8 (with InputNorm) if a GPU uploads them, otherwise F32.
  [[nodiscard]] virtual DType slot_dtype() const { return DType::F32; }
  /// True if compile() for training may choose kernels by timing them. All ranks then use the choices of the first
  /// rank.
  [[nodiscard]] virtual bool times_kernels() const { return false; }
  /// One line for logs and environment.json: library version, instruction set, threads.
  [[nodiscard]] virtual std::string description() const = 0;
  /// Instruction set of this machine, or another property on which the choice of kernels depends. Default: the engine's
  /// name.
  [[nodiscard]] virtual std::string instruction_set() const;
  /// Returns the smallest of `sets`, which are the instruction sets of several machines: all of them support it. `sets`
  /// holds at least one; the default returns the first.
  [[nodiscard]] virtual std::string least_instruction_set(const std::vector<std::string>& sets) const;
  /// Identifier of the computing device, unique on its host. Empty: the host's CPU cores, which several processes may
  /// share.
  [[nodiscard]] virtual std::string device_id() const { return {}; }
  /// Compiles a graph. Throws ShapeError, ConfigError (bad choices, unknown pass) or DeviceError (no kernel, out of
  /// memory).
  [[nodiscard]] virtual std::unique_ptr<Executable> compile(const graph::Graph& graph,
                                                            const CompileOptions& options) = 0;
  /// Returns the plan that compile() would make, without allocating its memory, to show memory use and kernels. Throws
  /// like compile() except for lack of memory, and DeviceError if the engine cannot plan without a device.
  [[nodiscard]] virtual Plan plan(const graph::Graph& graph, const CompileOptions& options);
  /// Times every algorithm that can compute a convolution pass of the plan that compile() would make. Takes minutes for
  /// large networks; the machine should be idle. Throws like plan(), and DeviceError if the engine has only one
  /// algorithm.
  [[nodiscard]] virtual std::vector<MeasuredChoice> measure_choices(const graph::Graph& graph,
                                                                    const CompileOptions& options);
};

}  // namespace roentgen::engine
