// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Convolutions by cuDNN's graph API (cuDNN 9 developer guide, "Graph API"). A graph has one operation; cuDNN's
// heuristic gives engine configurations, and each becomes an execution plan.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/error.h"
#include "engine/cuda/conv/convolutions.h"
#include "engine/cuda/cudnn_descriptor.h"
#include "engine/cuda/cudnn_target.h"
#include "runtime/cuda/stream.h"

namespace roentgen::engine::cuda {
namespace {

// Ids of the operands, unique within a graph.
constexpr std::int64_t kSrc = 1;
constexpr std::int64_t kWeights = 2;
constexpr std::int64_t kDst = 3;
// Alignment of the operands in bytes.
constexpr std::int64_t kAlignment = 16;
// Upper limits: no heuristic gives more configurations, and no engine has more knobs.
constexpr std::int64_t kMostConfigs = 64;
constexpr std::int64_t kMostKnobs = 64;

cudnnDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::Bf16:
      return CUDNN_DATA_BFLOAT16;
    case DType::F16:
      return CUDNN_DATA_HALF;
    default:
      RG_ASSERT(dtype == DType::F32);
      return CUDNN_DATA_FLOAT;
  }
}

// Makes the descriptor of a channels-last tensor. cuDNN expects its axes as (N, C, H, W) for every memory order.
Descriptor tensor(std::int64_t id, DType dtype, const std::array<std::int64_t, 4>& nchw) {
  const auto [n, c, h, w] = nchw;
  const std::array<std::int64_t, 4> strides{c * h * w, 1, w * c, c};
  Descriptor descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  descriptor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type_of(dtype))
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, std::span<const std::int64_t>(nchw))
      .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, std::span<const std::int64_t>(strides))
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kAlignment)
      .finalize("cuDNN tensor");
  return descriptor;
}

// Names of an operation's attributes in cuDNN, which differ between passes.
struct OperationNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t convolution, src, weights, dst, alpha, beta;
};

OperationNames names_of(ConvPass pass) {
  switch (pass) {
    case ConvPass::Forward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case ConvPass::DataGradient:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case ConvPass::WeightGradient:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
  RG_ASSERT(false);
  return {};
}

std::string text_of(const ConvProblem& problem) {
  static constexpr std::array<std::string_view, 3> kPasses{"forward", "data gradient", "weight gradient"};
  return fmt::format("{} of a {}x{} convolution of {} images, {} to {} channels, {}x{}, {}",
                     kPasses.at(static_cast<std::size_t>(problem.pass)), problem.kernel[0], problem.kernel[1],
                     problem.images, problem.channels, problem.out_channels, problem.size[0], problem.size[1],
                     name_of(problem.dtype));
}

// The cuDNN operation graph of a problem, with the descriptors it refers to.
struct OperationGraph {
  Descriptor src, weights, dst, convolution, operation, graph;
};

OperationGraph graph_of(const CudnnTarget& target, const ConvProblem& problem) {
  const auto [out_height, out_width] = problem.out_size();
  OperationGraph made{
      .src = tensor(kSrc, problem.dtype, {problem.images, problem.channels, problem.size[0], problem.size[1]}),
      .weights =
          tensor(kWeights, problem.dtype,
                 {problem.out_channels, problem.channels / problem.groups, problem.kernel[0], problem.kernel[1]}),
      .dst = tensor(kDst, problem.dtype, {problem.images, problem.out_channels, out_height, out_width}),
      .convolution = Descriptor(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR),
      .operation = Descriptor(names_of(problem.pass).type),
      .graph = Descriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)};
  made.convolution.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, std::int64_t{2})
      .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, std::span<const std::int64_t>(problem.pad))
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, std::span<const std::int64_t>(problem.pad))
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, std::span<const std::int64_t>(problem.dilation))
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, std::span<const std::int64_t>(problem.stride))
      .finalize("cuDNN convolution");
  const OperationNames names = names_of(problem.pass);
  made.operation.set(names.convolution, made.convolution)
      .set(names.src, made.src)
      .set(names.weights, made.weights)
      .set(names.dst, made.dst)
      .set(names.alpha, CUDNN_TYPE_FLOAT, 1.0F)
      .set(names.beta, CUDNN_TYPE_FLOAT, 0.0F)
      .finalize("cuDNN operation");
  made.graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, made.operation);
  target.set_handle(made.graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  made.graph.finalize("cuDNN operation graph");
  return made;
}

// Number of a plan's cuDNN engine and its knob settings, which are written as "e24,2=3,7=1".
struct PlanName {
  std::int64_t engine = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> knobs;

  [[nodiscard]] std::string text() const {
    std::string name = fmt::format("e{}", engine);
    for (const auto& [knob, value] : knobs) name += fmt::format(",{}={}", knob, value);
    return name;
  }
};

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<PlanName> parse_name(std::string_view text) {
  PlanName name;
  if (!text.starts_with('e')) return std::nullopt;
  text.remove_prefix(1);
  bool is_engine = true;
  while (true) {
    const std::string_view part = text.substr(0, text.find(','));
    const std::size_t equals = part.find('=');
    const auto first = number_of(part.substr(0, equals));
    if (!first || is_engine != (equals == std::string_view::npos)) return std::nullopt;
    if (is_engine) {
      name.engine = *first;
    } else {
      const auto value = number_of(part.substr(equals + 1));
      if (!value) return std::nullopt;
      name.knobs.emplace_back(*first, *value);
    }
    is_engine = false;
    if (part.size() == text.size()) return name;
    text.remove_prefix(part.size() + 1);
  }
}

PlanName name_of_config(const Descriptor& config, const Descriptor& engine) {
  PlanName name{.engine = engine.get_one<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64), .knobs = {}};
  for (const Descriptor& choice :
       config.get_descriptors(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, kMostKnobs)) {
    name.knobs.emplace_back(
        choice.get_one<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE),
        choice.get_one<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64));
  }
  return name;
}

// Number of elements that a pass writes.
std::int64_t result_elements(const ConvProblem& problem) {
  const auto [src, weights, dst] = problem.elements();
  return problem.pass == ConvPass::Forward ? dst : problem.pass == ConvPass::DataGradient ? src : weights;
}

// True if the plan splits its sums but has no workspace for f32 partial sums, so that it adds them in the 16-bit
// result. On an H200, such plans of weight gradients exceeded the error bound of f32 sums 16-fold.
bool sums_in_16_bits(const ConvProblem& problem, const PlanName& name, std::size_t workspace_bytes) {
  if (problem.dtype == DType::F32) return false;
  const auto split = std::ranges::find(name.knobs, std::int64_t{CUDNN_KNOB_TYPE_SPLIT_K},
                                       &std::pair<std::int64_t, std::int64_t>::first);
  if (split == name.knobs.end() || split->second <= 1) return false;
  const std::int64_t parts_bytes = split->second * result_elements(problem) * std::int64_t{sizeof(float)};
  return static_cast<std::int64_t>(workspace_bytes) < parts_bytes;
}

// True for the first convolution of a network, for which cuDNN has special f16 kernels for four channels. cuDNN marks
// them as summing in reduced precision, but their names say that they sum in f32.
bool is_first_layer(const ConvProblem& problem) {
  constexpr std::int64_t kMostChannels = 4;
  return problem.dtype == DType::F16 && problem.channels <= kMostChannels;
}

bool has_note(const Descriptor& engine, cudnnBackendNumericalNote_t note) {
  const auto notes = engine.get<cudnnBackendNumericalNote_t>(
      CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  return std::ranges::find(notes, note) != notes.end();
}

class CudnnPlan final : public ConvPlan {
 public:
  CudnnPlan(cudnnHandle_t handle, Descriptor plan, std::string name, bool is_deterministic)
      : handle_(handle),
        plan_(std::move(plan)),
        name_(std::move(name)),
        workspace_(static_cast<std::size_t>(
            plan_.get_one<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64))),
        is_deterministic_(is_deterministic) {}
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_; }
  [[nodiscard]] bool is_deterministic() const override { return is_deterministic_; }

  void run(runtime::Stream& stream, const ConvOperands& operands) override {
    RG_ASSERT(handle_ != nullptr);  // plans for a described card cannot run
    if (!(operands == bound_)) bind(operands);
    check(cudnn().set_stream(handle_, runtime::cuda::as_cuda(stream).launch_handle()), name_);
    check(cudnn().execute(handle_, plan_.handle(), pack_->handle()), name_);
  }

 private:
  void bind(const ConvOperands& operands) {
    const std::array<std::int64_t, 3> ids{kSrc, kWeights, kDst};
    const std::array<void*, 3> addresses{operands.src, operands.weights, operands.dst};
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, std::span<const std::int64_t>(ids))
        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, std::span<void* const>(addresses))
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, static_cast<void*>(operands.workspace))
        .finalize(name_);
    pack_.emplace(std::move(pack));
    bound_ = operands;
  }

  cudnnHandle_t handle_;
  Descriptor plan_;
  std::string name_;
  std::size_t workspace_;
  bool is_deterministic_;
  /// Operands of the last run, and cuDNN's variant pack of them, which is rebuilt only if they change.
  ConvOperands bound_{};
  std::optional<Descriptor> pack_;
};

class CudnnConvolutions final : public Convolutions {
 public:
  CudnnConvolutions() = default;
  explicit CudnnConvolutions(const std::string& properties) : target_(properties) {}

  std::vector<std::unique_ptr<ConvPlan>> plans(const ConvProblem& problem, std::size_t most) override {
    const OperationGraph graph = graph_of(target_, problem);
    std::vector<std::unique_ptr<ConvPlan>> found;
    for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
      Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
      heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.graph)
          .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
      target_.set_properties(heuristic, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
      if (!heuristic.try_finalize()) continue;
      for (const Descriptor& config :
           heuristic.get_descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, kMostConfigs)) {
        if (found.size() >= most) return found;
        if (auto plan = plan_of(config, problem)) found.push_back(std::move(plan));
      }
    }
    if (!found.empty()) return found;
    throw DeviceError(
        error_text("engine.cuda", text_of(problem), "an algorithm of cuDNN", "none", "--dtype f32, or --device cpu"));
  }

  std::unique_ptr<ConvPlan> plan_named(const ConvProblem& problem, const std::string& name) override {
    const std::optional<PlanName> parsed = parse_name(name);
    if (!parsed) {
      throw DeviceError(
          error_text("engine.cuda", text_of(problem), "the name of a cuDNN plan, such as e1,2=3", name, "a new run"));
    }
    const OperationGraph graph = graph_of(target_, problem);
    Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph.graph)
        .set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, parsed->engine);
    target_.set_properties(engine, CUDNN_ATTR_ENGINE_DEVICEPROP);
    std::unique_ptr<ConvPlan> plan;
    if (engine.try_finalize()) {
      std::vector<Descriptor> choices;
      std::vector<cudnnBackendDescriptor_t> handles;
      for (const auto& [knob, value] : parsed->knobs) {
        Descriptor& choice = choices.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        choice.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, static_cast<cudnnBackendKnobType_t>(knob))
            .set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, value)
            .finalize("cuDNN knob");
        handles.push_back(choice.handle());
      }
      Descriptor config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
      config.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
      if (!handles.empty()) {
        config.set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                   std::span<const cudnnBackendDescriptor_t>(handles));
      }
      if (config.try_finalize()) plan = plan_of(config, problem);
    }
    if (plan == nullptr) {
      throw DeviceError(error_text("engine.cuda", text_of(problem), "cuDNN plan " + name, "a cuDNN without this plan",
                                   "the cuDNN version and card that the run began with"));
    }
    return plan;
  }

 private:
  // Returns the plan of an engine configuration. Null if cuDNN cannot build it, or it is less precise than the problem
  // requires.
  std::unique_ptr<ConvPlan> plan_of(const Descriptor& config, const ConvProblem& problem) {
    const auto engines = config.get_descriptors(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
    const Descriptor& engine = engines.at(0);
    // Reject sums below f32 precision, and f32 factors rounded to less than TF32 or, if not allowed, to TF32.
    if (has_note(engine, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION) && !is_first_layer(problem)) return nullptr;
    if (problem.dtype == DType::F32 &&
        (has_note(engine, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) ||
         (!problem.may_round_to_tf32 && has_note(engine, CUDNN_NUMERICAL_NOTE_TENSOR_CORE)))) {
      return nullptr;
    }
    Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    target_.set_handle(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
    target_.set_properties(plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
    if (!plan.try_finalize()) return nullptr;
    const bool is_deterministic = !has_note(engine, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
    const PlanName name = name_of_config(config, engine);
    auto made = std::make_unique<CudnnPlan>(target_.handle(), std::move(plan), name.text(), is_deterministic);
    if (sums_in_16_bits(problem, name, made->workspace_bytes())) return nullptr;
    return made;
  }

  CudnnTarget target_;
};

}  // namespace

std::unique_ptr<Convolutions> make_cudnn_convolutions() { return std::make_unique<CudnnConvolutions>(); }

std::unique_ptr<Convolutions> make_cudnn_convolutions(const std::string& properties) {
  return std::make_unique<CudnnConvolutions>(properties);
}

}  // namespace roentgen::engine::cuda
