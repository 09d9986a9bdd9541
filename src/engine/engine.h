// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Engine and Executable: what turns a graph into steps. Knows nothing of how; engine/cpu and engine/cuda do.
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

namespace roentgen::engine {

/// Purpose of an executable. Training: batch statistics, dropout, backward. Inference: running statistics, no loss
/// gradient, nothing kept.
enum class Form : std::uint8_t { Training, Inference };
/// Purpose of the graph passes and fusions of that form.
[[nodiscard]] constexpr graph::Purpose purpose_of(Form form) {
  return form == Form::Training ? graph::Purpose::Training : graph::Purpose::Inference;
}

/// Sums over ranks, in place: all of them end with the same bits. Called within forward() and backward(), on the
/// stepping thread, and by equal plans in the same order; returns when it is done.
/// @param ready reached once this rank's sums are there
/// @param index number of the batch norm, named in the error of a rank that waits too long
using SumOverRanks =
    std::function<void(runtime::DeviceSpan<double> sums, const runtime::Event& ready, std::int64_t index)>;

/// Ranks whose batches are one for batch norms: mean and variance of all their images, in forward and backward.
struct NormGroup {
  int ranks = 1;       ///< number of ranks
  SumOverRanks sum{};  ///< adds up over the ranks; empty for one rank
};

/// Inputs of the rule that chooses kernels, beside graph and options. Ranks with equal inputs choose equally.
struct ChoiceInputs {
  /// Engine::instruction_set() whose kernels may be used; empty: this machine's.
  std::string instruction_set{};
  /// Threads that kernels of training are chosen for; 0: CompileOptions::threads.
  int threads = 0;
  /// Measured choices of training, used instead of the rule's: MeasuredChoice::layer -> algorithm.
  std::map<std::string, std::string> measured{};
};

/// Algorithms of convolutions. Auto: a rule chooses per layer and pass between direct and our kernels: Winograd; with
/// bf16 tiles split products, else with AVX-512 pointwise ones. It knows layer, pass, instruction set and, in training,
/// batch and threads; nothing is timed. On CUDA: in training the library's fastest plan, timed once a card, else its
/// heuristic's first. Heuristic: like Auto, never timed. Direct: plain convolutions only; on CUDA like Heuristic. The
/// others, for tests: each wherever it can compute the pass.
enum class Algorithms : std::uint8_t { Auto, Direct, Winograd, Split, Split2, Pointwise, Heuristic };
/// "auto", "direct", "winograd", "split", "split2", "pointwise" or "heuristic".
[[nodiscard]] std::string_view name_of(Algorithms algorithms);
/// Algorithms of that name. ConfigError for an unknown one.
[[nodiscard]] Algorithms parse_algorithms(std::string_view name);

/// Options of compile().
struct CompileOptions {
  Form form = Form::Training;  ///< training or inference
  /// Compute threads; 0 = all cores the process may use.
  int threads = 0;
  /// Input slots: how many batches can be filled ahead of the running step.
  int slots = 2;
  /// Pixels in the slots of an input; nullopt: all slots hold values in f32. Moves results within rounding.
  std::optional<InputNorm> input_norm{};
  /// Gradient buckets are closed at this size.
  std::size_t bucket_bytes = 4U << 20;
  /// Graph passes to run and fusions to make, by name (graph/passes/pass_list.h): "on" = all, "off" = none,
  /// "name,name", or "on,-name" = all others. Results move within rounding.
  std::string fuse = "on";
  /// The choice moves the last digits, so it is in the plan, and a resumed run takes it from there.
  Algorithms algorithms = Algorithms::Auto;
  ChoiceInputs choice{};  ///< inputs of the rule that chooses kernels
  /// Stored type of activations and their gradients. Parameters, their gradients and sums stay f32. Bf16: convolutions
  /// multiply bf16 and add up in f32; on the CPU, Auto may choose Winograd's in f32 where that is faster. F16: like
  /// Bf16, with gradients scaled by LossScale; on CUDA devices. ComputeType::tf32(): like F32, with rounded factors of
  /// products; on CUDA devices from compute capability 8.0. Nullopt: bf16 in training if the instruction set multiplies
  /// it, else f32. Ignored with `choices`, which record the type. In inference the CPU engine always computes in f32.
  std::optional<ComputeType> dtype = DType::F32;
  /// Options of the loss scale, for F16.
  LossScaling loss_scaling{};
  /// Values that backward recomputes instead of keeping, to the same bits. "auto": those that a kernel can write which
  /// reads the input anyway (no kernel of CUDA). "all": also those that need a pass over memory of their own. "none":
  /// no values.
  std::string recompute = "auto";
  /// Kernel choices of an earlier Plan to use instead of choosing (resume). Refused if they do not fit the graph.
  std::map<std::string, std::string> choices{};
  /// Root of dropout's random streams.
  std::uint64_t seed = 0;
  /// Null: batch norms take this executable's own batch. Training form.
  std::shared_ptr<const NormGroup> norm_group{};
};

/// Memory of parameters by their role: trained ones, with gradients, and running statistics.
enum class ArenaKind : std::uint8_t { Trained, State };

/// Consecutive elements of the arenas of one kind that belong to one parameter.
struct ParameterSlice {
  /// Index into Graph::parameters().
  std::int32_t parameter = 0;
  /// First element and number of elements, kernel layout, padding included.
  std::int64_t begin = 0;
  std::int64_t count = 0;  ///< elements, padding included
};

/// Gradients that become ready together. Buckets are in backward order.
using Bucket = ArenaRange;

/// Called on the stepping thread for every bucket of the gradient arena, in order.
/// @param ready reached once the bucket is final; it may be waited for until the next backward()
using BucketCallback = std::function<void(std::int64_t index, const runtime::Event& ready)>;

/// A compiled graph with its memory. One thread drives it; slots other than the bound one may be filled by others.
/// forward(), backward() and update() queue work in order; functions that give results to the host wait for it. On the
/// CPU the work is done when they return. Nothing allocates between compile() and destruction, unless its comment says
/// so.
class Executable {
 public:
  virtual ~Executable() = default;

  /// Graph after the passes; parameter indices are those of the graph given to compile().
  [[nodiscard]] virtual const graph::Graph& graph() const = 0;
  [[nodiscard]] virtual const Plan& plan() const = 0;  ///< entries and memory
  /// Device of the arenas, for streams and events of others, which must be gone before this.
  [[nodiscard]] virtual runtime::Device& memory_device() const = 0;

  /// The graph's inputs, in graph order.
  [[nodiscard]] virtual const std::vector<InputSpec>& inputs() const = 0;
  /// Host memory of an input in a slot: inputs()[input].bytes bytes, zeroed at compile. 64-byte aligned.
  [[nodiscard]] virtual std::span<std::byte> slot(std::int64_t input, int slot) = 0;
  /// Chooses the slot that the next forward() reads; before the first call it is slot 0. The slot must hold its batch
  /// now, since a device starts the upload here, under the work that is queued. A slot that was filled again counts
  /// only after another call: a device keeps its copy. In inference, call it before reading the results of the last
  /// forward(). The slot may be filled again once the backward() of that forward has returned, in inference the
  /// forward().
  virtual void bind_slot(int slot) = 0;
  /// The step number that keys dropout.
  virtual void set_step(std::int64_t step) = 0;

  /// Queues the forward entries; in the inference form, before the first and after parameters were loaded, also the
  /// plan's preparations, which allocate.
  virtual void forward() = 0;
  /// Queues the backward entries: fills the gradient arena (overwriting it). Training form, after forward().
  virtual void backward(const BucketCallback& on_bucket) = 0;
  /// A named output of the last forward(), plain row-major f32, once it is there; valid until the next forward().
  [[nodiscard]] virtual std::span<const float> read(std::string_view name) const = 0;

  /// Losses of forward() count from here on: where one of them is not finite, update() changes nothing.
  virtual void begin_update() = 0;
  /// Queues an update of some ranges of an arena by a rule. Does nothing if a loss since begin_update() was not finite
  /// or, with a limit, the norm is not; both hold until the next begin_update(). With a loss scale, an optimizer's rule
  /// divides its source by it and takes all ranges at once: each such update counts for the scale. On a device, the
  /// first call with other ranges allocates and waits.
  /// @return reached once it is done; recorded anew by the next update()
  virtual const runtime::Event& update(const UpdateRule& rule, const UpdateWork& work) = 0;
  /// L2 norm of the scaled source of the last update() with a limit (UpdateWork::clip_norm), once it is known.
  [[nodiscard]] virtual double read_norm() const = 0;

  /// Loss scale that the last forward() began with, once its loss is there; nullopt where gradients are not scaled.
  [[nodiscard]] virtual std::optional<LossScale> loss_scale() const { return std::nullopt; }
  /// Loss scale that the last update() left, once it is done; nullopt where gradients are not scaled.
  [[nodiscard]] virtual std::optional<LossScale> read_loss_scale() const { return std::nullopt; }
  /// Continues with this scale. Does nothing where gradients are not scaled.
  virtual void set_loss_scale(const LossScale& scale) { static_cast<void>(scale); }

  /// Trained parameters: flat, in bucket order, kernel layout. Padding elements are zero and stay zero under any update
  /// that maps a zero gradient and zero weight to zero. Inference: what is written here counts when parameters() was
  /// called after the last forward().
  [[nodiscard]] virtual Arena& parameters() = 0;
  [[nodiscard]] virtual const Arena& parameters() const = 0;  ///< to be read
  /// Gradients of the last backward(), laid out as parameters(), times the loss scale if there is one. Inference: no
  /// elements.
  [[nodiscard]] virtual Arena& gradients() = 0;
  [[nodiscard]] virtual const Arena& gradients() const = 0;  ///< to be read
  /// Running statistics. What is written here counts as with parameters().
  [[nodiscard]] virtual Arena& state() = 0;
  [[nodiscard]] virtual const Arena& state() const = 0;  ///< to be read
  /// Another arena laid out as those of this kind, all zero. Allocates. This must outlive it.
  [[nodiscard]] virtual std::unique_ptr<Arena> make_arena(ArenaKind kind) = 0;
  [[nodiscard]] virtual const std::vector<ParameterSlice>& slices() const = 0;  ///< one for each trained parameter
  /// Buckets in the order in which backward() fills them.
  [[nodiscard]] virtual const std::vector<Bucket>& buckets() const = 0;

  /// The plain row-major values of a parameter in an arena of its kind. Allocates.
  [[nodiscard]] virtual std::vector<float> store(std::int32_t parameter, const Arena& arena) const = 0;
  /// Writes plain row-major values into the parameter's elements of such an arena. ShapeError unless there are as many
  /// as the parameter has elements. May allocate.
  virtual void load(std::int32_t parameter, std::span<const float> values, Arena& arena) const = 0;
  /// store() of the executable's own values of a parameter or state tensor.
  [[nodiscard]] std::vector<float> store(std::int32_t parameter) const;
  /// load() of the executable's own values of a parameter or state tensor.
  void load(std::int32_t parameter, std::span<const float> values);
  /// store() of a trained parameter's gradient, after backward() and before update(), without the loss scale.
  [[nodiscard]] std::vector<float> store_gradient(std::int32_t parameter) const;

  /// Host time per plan entry since the last reset, in plan order: on a device, the time that queueing takes.
  [[nodiscard]] virtual std::vector<EntryTime> profile() const = 0;
  virtual void reset_profile() = 0;  ///< starts profile() again at zero
  /// Runs one entry alone `repeats` times on the step's own buffers and returns the best time in seconds: what the
  /// kernel costs with warm caches. Spoils the step's values: for benchmarks, after the step was measured.
  [[nodiscard]] virtual double time_entry(std::int32_t entry, int repeats);
};

/// Kind of the arenas that a parameter lies in.
[[nodiscard]] ArenaKind arena_kind(const graph::Parameter& parameter);
/// Copies all parameters and state from one executable to another of the same parameters (training -> inference).
void copy_parameters(const Executable& from, Executable& to);
/// Loads initial_values() of every parameter.
void initialise(Executable& executable, std::uint64_t seed);

/// Times of the algorithms that can compute a pass of a convolution.
struct MeasuredChoice {
  /// "<node>/<pass>", as in Plan::choices.
  std::string name;
  /// Layer, pass, type of values, threads and instruction set: equal lines, equal times.
  std::string layer;
  /// The plan's.
  std::string chosen;
  /// Least of several runs, by algorithm.
  std::map<std::string, double> seconds;
};

/// Makes executables for one kind of device. Thread-compatible.
class Engine {
 public:
  virtual ~Engine() = default;
  /// "cpu" or "cuda".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Reason why "auto" (device.h) must not choose this engine, or empty: it can train.
  [[nodiscard]] virtual std::string why_not_auto() const { return {}; }
  /// Type in which slots of images are best filled: U16 or U8 (InputNorm) where they travel to a device. Default: F32.
  [[nodiscard]] virtual DType slot_dtype() const { return DType::F32; }
  /// True when compile() of the training form may choose kernels by timing them: ranks then obey the first one.
  [[nodiscard]] virtual bool times_kernels() const { return false; }
  /// One line for logs and environment.json: library version, instruction set, threads.
  [[nodiscard]] virtual std::string description() const = 0;
  /// Property of this machine that kernels are chosen by, as one word. Default: the engine's name, as if all machines
  /// were alike.
  [[nodiscard]] virtual std::string instruction_set() const;
  /// The word among `sets` whose kernels all those machines have. Default: the first. At least one is given.
  [[nodiscard]] virtual std::string least_instruction_set(const std::vector<std::string>& sets) const;
  /// Device that computes, among those of its host; empty: the host's own cores, which many share.
  [[nodiscard]] virtual std::string device_id() const { return {}; }
  /// Compiles; throws ShapeError, ConfigError (bad choices, unknown pass) or DeviceError (no kernel, out of memory).
  [[nodiscard]] virtual std::unique_ptr<Executable> compile(const graph::Graph& graph,
                                                            const CompileOptions& options) = 0;
  /// Plan that compile() would make, without allocating its memory: shows the memory and the kernels of a batch of that
  /// size. Throws as compile(), except for memory; DeviceError if the engine cannot plan without a device.
  [[nodiscard]] virtual Plan plan(const graph::Graph& graph, const CompileOptions& options);
  /// Times every algorithm for every choice of the plan that compile() would make. The machine should be idle
  /// otherwise. Takes minutes for large networks.
  /// Throws as plan(); DeviceError if the engine has no choices.
  [[nodiscard]] virtual std::vector<MeasuredChoice> measure_choices(const graph::Graph& graph,
                                                                    const CompileOptions& options);
};

}  // namespace roentgen::engine
