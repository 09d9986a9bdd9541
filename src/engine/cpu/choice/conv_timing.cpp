// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/choice/conv_timing.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "engine/cpu/choice/conv_choice.h"
#include "engine/cpu/conv/direct/direct_conv.h"
#include "engine/cpu/conv/own_conv.h"
#include "engine/cpu/plan/executable.h"
#include "engine/cpu/plan/kernel_scratch.h"
#include "engine/cpu/plan/primitive_internal.h"
#include "runtime/aligned_buffer.h"
#include "runtime/team.h"

namespace roentgen::engine::cpu {
namespace {
using Fwd = dnnl::convolution_forward;
using BwdData = dnnl::convolution_backward_data;
using BwdWeights = dnnl::convolution_backward_weights;

constexpr int kTimedRuns = 4;
// A time above this multiple of the fastest marks a stalled run. A stall of the whole process took 400 times as long,
// while algorithms differ by at most a factor of 8.4.
constexpr double kFarBehind = 20.0;
constexpr int kMostRepeats = 2;

using Run = std::function<void()>;

// Returns numbers in [-1, 1), by the generator of Numerical Recipes.
std::array<float, 16384> made_numbers() {
  std::array<float, 16384> made{};
  std::uint32_t state = 1;
  for (float& number : made) {
    state = state * 1664525U + 1013904223U;
    number = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31F;
  }
  return made;
}

// Returns a buffer filled with repeating numbers, not zeros: with zeros, tiles take a fifth less time.
runtime::AlignedBuffer numbers(std::size_t bytes) {
  static const std::array<float, 16384> kNumbers = made_numbers();
  runtime::AlignedBuffer buffer(bytes);
  for (std::size_t i = 0; i < bytes; i += sizeof kNumbers) {
    std::memcpy(buffer.data() + i, kNumbers.data(), std::min(sizeof kNumbers, bytes - i));
  }
  return buffer;
}

double seconds_of(const Run& run) {
  const auto before = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
}

// Returns a Run of a kernel on new buffers. Tensors 0, 1, ... have these sizes.
Run run_on_buffers(std::unique_ptr<Kernel> kernel, const std::vector<std::size_t>& bytes, std::size_t stride = 0) {
  struct State {
    std::unique_ptr<Kernel> kernel;
    std::vector<runtime::AlignedBuffer> buffers;
  };
  const auto state = std::make_shared<State>();  // a shared_ptr, because std::function copies its target
  state->kernel = std::move(kernel);
  std::vector<std::byte*> addresses;
  for (const std::size_t each : bytes) {
    state->buffers.push_back(numbers(each));
    addresses.push_back(state->buffers.back().data());
  }
  state->kernel->bind(Addresses(std::move(addresses), {}, static_cast<std::int64_t>(stride)));
  return [state] { state->kernel->run(); };
}

template <typename Primitive, typename Descriptor>
Run primitive_run(const Descriptor& pd, const std::vector<std::pair<int, dnnl::memory::desc>>& arguments) {
  std::vector<Argument> used;
  std::vector<std::size_t> bytes;
  for (const auto& [index, desc] : arguments) {
    if (desc.get_size() == 0) continue;
    used.push_back({index, static_cast<TensorId>(bytes.size()), desc});
    bytes.push_back(desc.get_size());
  }
  return run_on_buffers(primitive_kernel(Primitive(pd), used), bytes);
}

Run direct_run(const ConvGeometry& g, ConvPass pass) {
  if (pass == ConvPass::Forward) {
    const auto pd = conv_forward(g);
    return primitive_run<Fwd>(pd, {{DNNL_ARG_SRC, pd.src_desc()},
                                   {DNNL_ARG_WEIGHTS, pd.weights_desc()},
                                   {DNNL_ARG_BIAS, pd.bias_desc()},
                                   {DNNL_ARG_DST, pd.dst_desc()},
                                   {DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc()}});
  }
  if (pass == ConvPass::BackwardData) {
    const auto pd = conv_backward_data(g);
    return primitive_run<BwdData>(pd, {{DNNL_ARG_DIFF_SRC, pd.diff_src_desc()},
                                       {DNNL_ARG_WEIGHTS, pd.weights_desc()},
                                       {DNNL_ARG_DIFF_DST, pd.diff_dst_desc()},
                                       {DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc()}});
  }
  const auto pd = conv_backward_weights(g);
  return primitive_run<BwdWeights>(pd, {{DNNL_ARG_SRC, pd.src_desc()},
                                        {DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc()},
                                        {DNNL_ARG_DIFF_BIAS, pd.diff_bias_desc()},
                                        {DNNL_ARG_DIFF_DST, pd.diff_dst_desc()},
                                        {DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc()}});
}

Run own_run(ConvAlgorithm algorithm, const ConvGeometry& g, ConvPass pass, int threads) {
  const Fwd::primitive_desc forward = conv_forward(g);
  std::unique_ptr<ConvKernel> kernel =
      own_kernel(algorithm, pass, g, threads, {.src = 0, .weights = 1, .dst = 2, .scratch = 3, .own_scratch = 4});
  const ScratchBytes scratch = kernel->scratch_bytes();
  // Uses the strides of plans for the buffers.
  const std::size_t stride = ThreadsMemory::of(scratch.own).stride_bytes;
  const std::size_t src = forward.src_desc().get_size(), weights = forward.weights_desc().get_size();
  return run_on_buffers(
      std::move(kernel),
      {src, weights, forward.dst_desc().get_size(), scratch.shared, stride * static_cast<std::size_t>(threads)},
      stride);
}

// Times in seconds, by algorithm.
using Timings = std::map<std::string, double>;

Timings measure(const std::vector<ConvAlgorithm>& algorithms, const ConvGeometry& g, ConvPass pass, int threads) {
  std::vector<TimedRun> runs;
  for (const ConvAlgorithm algorithm : algorithms) {
    const bool is_direct = algorithm == ConvAlgorithm::Direct;
    const Run run = is_direct ? direct_run(g, pass) : own_run(algorithm, g, pass, threads);
    runs.emplace_back([run] { return seconds_of(run); });
  }
  const std::vector<double> least = least_seconds(runs);
  Timings timings;
  for (std::size_t i = 0; i < algorithms.size(); ++i) timings[std::string(name_of(algorithms[i]))] = least[i];
  return timings;
}

}  // namespace

std::vector<double> least_seconds(const std::vector<TimedRun>& candidates) {
  std::vector<double> least(candidates.size(), std::numeric_limits<double>::infinity());
  for (const TimedRun& candidate : candidates) static_cast<void>(candidate());
  for (int repeat = 0; repeat <= kMostRepeats; ++repeat) {
    for (int run = 0; run < kTimedRuns; ++run) {
      for (std::size_t i = 0; i < candidates.size(); ++i) least[i] = std::min(least[i], candidates[i]());
    }
    const auto [fastest, slowest] = std::ranges::minmax(least);
    if (slowest <= kFarBehind * fastest) break;
  }
  return least;
}

std::vector<MeasuredChoice> measure_choices(const graph::Graph& graph, const CompileOptions& options) {
  const CompileOptions filled = settled(options);
  const Plan plan = make_plan(graph, filled);
  const graph::Graph network = graph::run_passes(graph, filled.fuse, purpose_of(filled.form));
  const DType dtype = plan.dtype() == name_of(DType::Bf16) ? DType::Bf16 : DType::F32;
  const ChoiceContext context = choice_context(filled, dtype);
  static_cast<void>(runtime::prepare_team(filled.threads));
  std::map<std::string, Timings> known;
  std::vector<MeasuredChoice> choices;
  for (const graph::Node& node : network.nodes()) {
    const auto* conv = std::get_if<graph::Conv2d>(&node.op);
    if (conv == nullptr) continue;
    const ConvGeometry g = conv_geometry(*conv, node, network.node(node.inputs[0]).shape);
    for (const ConvPass pass : {ConvPass::Forward, ConvPass::BackwardData, ConvPass::BackwardWeights}) {
      const auto chosen = plan.choices.find(pass_key(node, pass));
      if (chosen == plan.choices.end()) continue;
      const std::string layer = choice_key(g, pass, context);
      if (!known.contains(layer)) {
        known[layer] = measure(conv_candidates(g, pass, context), g, pass, filled.threads);
        // Returns freed buffers that glibc's malloc keeps. Otherwise they would count as memory of the process as long
        // as it lives.
        ::malloc_trim(0);
      }
      choices.push_back({.name = chosen->first, .layer = layer, .chosen = chosen->second, .seconds = known.at(layer)});
    }
  }
  return choices;
}

}  // namespace roentgen::engine::cpu
