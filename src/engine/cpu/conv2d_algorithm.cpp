// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/conv2d_algorithm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "core/error.h"
#include "core/thread_annotations.h"
#include "engine/cpu/algorithm_choice.h"
#include "engine/cpu/conv2d_input.h"
#include "engine/cpu/kernel_scratch.h"
#include "engine/cpu/primitive.h"
#include "engine/cpu/simd/isa.h"
#include "engine/cpu/timing_store.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::engine::cpu {
namespace {
using Fwd = dnnl::convolution_forward;
using BwdData = dnnl::convolution_backward_data;
using BwdWeights = dnnl::convolution_backward_weights;

constexpr std::size_t kScratchLimit = std::size_t{64} << 20;

// What the end of an axis needs so that the output size comes out as inferred; may be negative.
std::int64_t high_pad(std::int64_t out, std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                      std::int64_t dilation) {
  return (out - 1) * stride + dilation * (kernel - 1) + 1 - in - pad;
}

struct Descriptors {
  dnnl::memory::desc src;
  dnnl::memory::desc weights;
  dnnl::memory::desc dst;
};

dnnl::primitive_attr forward_attributes(const ConvGeometry& g) {
  dnnl::primitive_attr attributes = user_scratchpad();
  dnnl::post_ops after;
  if (g.adds) after.append_sum();
  if (g.relu) after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  attributes.set_post_ops(after);
  return attributes;
}

Fwd::primitive_desc make_forward(const ConvGeometry& g, const Descriptors& d) {
  const auto kind = dnnl::prop_kind::forward_training;
  const auto chosen = dnnl::algorithm::convolution_direct;
  if (g.bias.empty()) {
    return {{kind, chosen, d.src, d.weights, d.dst, g.stride, g.dilation, g.pad_low, g.pad_high},
            forward_attributes(g),
            library_engine()};
  }
  return {
      {kind, chosen, d.src, d.weights, plain_descriptor(g.bias), d.dst, g.stride, g.dilation, g.pad_low, g.pad_high},
      forward_attributes(g),
      library_engine()};
}

BwdData::primitive_desc make_backward_data(const ConvGeometry& g, const Fwd::primitive_desc& forward,
                                           const Descriptors& d) {
  return {{dnnl::algorithm::convolution_direct, d.src, d.weights, d.dst, g.stride, g.dilation, g.pad_low, g.pad_high},
          user_scratchpad(),
          library_engine(),
          forward};
}

BwdWeights::primitive_desc make_backward_weights(const ConvGeometry& g, const Fwd::primitive_desc& forward,
                                                 const Descriptors& d) {
  const auto chosen = dnnl::algorithm::convolution_direct;
  if (g.bias.empty()) {
    return {{chosen, d.src, d.weights, d.dst, g.stride, g.dilation, g.pad_low, g.pad_high},
            user_scratchpad(),
            library_engine(),
            forward};
  }
  return {{chosen, d.src, d.weights, plain_descriptor(g.bias), d.dst, g.stride, g.dilation, g.pad_low, g.pad_high},
          user_scratchpad(),
          library_engine(),
          forward};
}

Descriptors plain_descriptors(const ConvGeometry& g) {
  return {descriptor(g.src, Layout{}), any_descriptor(g.weights), descriptor(g.dst, Layout{})};
}

dnnl::memory::dims dims_of(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

using Run = std::function<void()>;

// Numbers in [-1, 1), by the generator of Numerical Recipes.
std::array<float, 16384> made_numbers() {
  std::array<float, 16384> made{};
  std::uint32_t state = 1;
  for (float& number : made) {
    state = state * 1664525U + 1013904223U;
    number = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31F;
  }
  return made;
}

// A buffer of numbers, which repeat: tiles take a fifth less time for zeros.
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

// A primitive on buffers of its own.
template <typename Primitive, typename Descriptor>
Run primitive_run(const Descriptor& pd, const std::vector<std::pair<int, dnnl::memory::desc>>& arguments) {
  struct State {
    explicit State(const Descriptor& pd_) : primitive(pd_), stream(library_engine()) {}
    Primitive primitive;
    dnnl::stream stream;
    std::vector<runtime::AlignedBuffer> buffers;
    std::unordered_map<int, dnnl::memory> memories;
  };
  const auto state = std::make_shared<State>(pd);  // std::function copies
  for (const auto& [index, desc] : arguments) {
    if (desc.get_size() == 0) continue;
    state->buffers.push_back(numbers(desc.get_size()));
    state->memories.emplace(index, dnnl::memory(desc, library_engine(), state->buffers.back().data()));
  }
  return [state] {
    state->primitive.execute(state->stream, state->memories);
    state->stream.wait();
  };
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
  struct State {
    std::vector<runtime::AlignedBuffer> buffers;
    std::unique_ptr<Kernel> kernel;
  };
  const Fwd::primitive_desc forward = conv_forward(g);
  const auto state = std::make_shared<State>();  // std::function copies
  std::vector<std::byte*> addresses;
  const ScratchBytes scratch = own_scratch(algorithm, pass, g, threads);
  // With strides as plans have them.
  const std::size_t stride = ThreadsMemory::of(scratch.own).stride_bytes;
  for (const std::size_t bytes :
       {forward.src_desc().get_size(), forward.weights_desc().get_size(), forward.dst_desc().get_size(), scratch.shared,
        stride * static_cast<std::size_t>(threads)}) {
    state->buffers.push_back(numbers(bytes));
    addresses.push_back(state->buffers.back().data());
  }
  state->kernel =
      own_kernel(algorithm, pass, g, threads, {.src = 0, .weights = 1, .dst = 2, .scratch = 3, .own_scratch = 4});
  state->kernel->bind(Addresses(std::move(addresses), {}, static_cast<std::int64_t>(stride)));
  return [state] { state->kernel->run(); };
}

// What can compute a pass of f32 values within the scratch that is granted; direct comes first. Six products are never
// faster than the three of the same pass, and neither is faster than direct but on tiles; where these are, Pointwise is
// not.
std::vector<ConvAlgorithm> candidates_of(const ConvGeometry& g, ConvPass pass, int threads) {
  std::vector<ConvAlgorithm> candidates{ConvAlgorithm::Direct};
  for (const ConvAlgorithm algorithm : kConvAlgorithms) {
    if (algorithm == ConvAlgorithm::Direct || dtype_of(algorithm) != DType::F32) continue;
    if (is_split(algorithm) && !simd::has_tiles()) continue;
    if (algorithm == ConvAlgorithm::Pointwise && simd::has_tiles()) continue;
    if (algorithm == ConvAlgorithm::Split && can_compute(ConvAlgorithm::Split2, pass, g)) continue;
    if (!can_compute(algorithm, pass, g)) continue;
    if (own_scratch(algorithm, pass, g, threads).total(threads) <= kScratchLimit) candidates.push_back(algorithm);
  }
  return candidates;
}

// Of bf16 values: Winograd's beside AVX-512's products, not beside those of tiles (docs/adr/0018).
std::vector<ConvAlgorithm> bf16_candidates_of(const ConvGeometry& g, ConvPass pass, int threads) {
  constexpr auto kWinograd = ConvAlgorithm::WinogradBf16;
  std::vector<ConvAlgorithm> candidates{ConvAlgorithm::Bf16};
  if (!simd::has_tiles() && can_compute(kWinograd, pass, g) &&
      own_scratch(kWinograd, pass, g, threads).total(threads) <= kScratchLimit) {
    candidates.push_back(kWinograd);
  }
  return candidates;
}

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

// What was measured on this machine, by geometry, pass and team size.
class Measurements {
 public:
  Timings get(const std::vector<ConvAlgorithm>& algorithms, const ConvGeometry& g, ConvPass pass, int threads) {
    const std::string_view epilogue = g.adds ? (g.relu ? " add relu" : " add") : (g.relu ? " relu" : "");
    const std::string_view dtype = dtype_of(algorithms.front()) == DType::Bf16 ? " bf16" : "";
    const std::string key = fmt::format(
        "conv2d r{} {} {} {} {} {} {}{}{}{} pass {} threads {}", kKernelRevision, g.src.text(), g.dst.text(),
        fmt::join(g.weights, ","), fmt::join(g.stride, ","), fmt::join(g.dilation, ","), fmt::join(g.pad_low, ","),
        g.bias.empty() ? "" : " bias", epilogue, dtype, static_cast<int>(pass), threads);
    std::vector<std::string> names;
    for (const ConvAlgorithm algorithm : algorithms) names.emplace_back(name_of(algorithm));
    const MutexLock lock(mutex_);
    if (const auto found = store_.find(key, names)) return *found;
    const Timings timings = measure(algorithms, g, pass, threads);
    // What glibc's malloc keeps of the buffers would count beside the plan as long as the process runs.
    ::malloc_trim(0);
    store_.put(key, timings);
    return timings;
  }

 private:
  Mutex mutex_;
  TimingStore store_ RG_GUARDED_BY(mutex_){timing_file(), timing_machine()};
};

Measurements& measurements() {
  static Measurements instance;
  return instance;
}

std::string what_is_here() {
  const std::optional<simd::TileUnit> unit = simd::bf16_unit();
  return fmt::format("blocks of {} channels, {} for bf16", simd::vector_block(),
                     unit ? simd::name_of(*unit) : "nothing");
}

// What a stored choice says, where this machine can follow it. Split products without tiles are for who asks for them:
// others are faster, and the bits are not those of tiles.
ConvAlgorithm stored_algorithm(const std::string& stored, const std::string& key, const ConvGeometry& g, ConvPass pass,
                               std::string_view asked) {
  const std::optional<ConvAlgorithm> found = conv_algorithm(stored);
  if (!found) {
    throw ConfigError(
        error_text("engine.plan", key, "direct, winograd, split, split2, bf16, winograd_bf16 or pointwise", stored));
  }
  const bool is_slow = is_split(*found) && !simd::has_tiles() && !asked.starts_with("split");
  if (!is_slow && can_compute(*found, pass, g)) return *found;
  throw ConfigError(error_text("engine.plan", key, "a pass, layer and machine that its algorithm's kernels can do",
                               fmt::format("{}, and {}", stored, what_is_here()),
                               *found == ConvAlgorithm::Bf16
                                   ? "a machine like the one the run began on, or a new run with train.dtype = \"f32\""
                                   : "a new run with train.algorithms = \"direct\""));
}

}  // namespace

ConvGeometry conv_geometry(const graph::Conv2d& op, const graph::Node& node, const Shape& src) {
  ConvGeometry g;
  g.src = src;
  g.dst = node.shape;
  const std::int64_t IC = src[1] / op.groups;
  const std::int64_t OC = op.out_channels / op.groups;
  g.weights = {OC, IC, op.kernel.height, op.kernel.width};
  if (op.groups > 1) g.weights.insert(g.weights.begin(), op.groups);
  if (op.bias) g.bias = {op.out_channels};
  g.stride = {op.stride.height, op.stride.width};
  g.dilation = {op.dilation.height - 1, op.dilation.width - 1};
  g.pad_low = {op.pad.height, op.pad.width};
  g.pad_high = {high_pad(g.dst[2], src[2], op.kernel.height, op.stride.height, op.pad.height, op.dilation.height),
                high_pad(g.dst[3], src[3], op.kernel.width, op.stride.width, op.pad.width, op.dilation.width)};
  return g;
}

Fwd::primitive_desc conv_forward(const ConvGeometry& g) {
  const Descriptors any{any_descriptor(dims_of(g.src)), any_descriptor(g.weights), any_descriptor(dims_of(g.dst))};
  Fwd::primitive_desc chosen = make_forward(g, any);
  const bool is_known = layout_of(chosen.src_desc(), g.src).block > 0 && layout_of(chosen.dst_desc(), g.dst).block > 0;
  if (is_known && !is_reference(chosen.impl_info_str())) return chosen;
  return make_forward(g, plain_descriptors(g));
}

BwdData::primitive_desc conv_backward_data(const ConvGeometry& g) {
  const Fwd::primitive_desc forward = conv_forward(g);
  BwdData::primitive_desc chosen =
      make_backward_data(g, forward, {forward.src_desc(), any_descriptor(g.weights), forward.dst_desc()});
  if (!is_reference(chosen.impl_info_str())) return chosen;
  return make_backward_data(g, forward, plain_descriptors(g));
}

BwdWeights::primitive_desc conv_backward_weights(const ConvGeometry& g) {
  const Fwd::primitive_desc forward = conv_forward(g);
  // In the forward's layouts where a fast kernel takes them, else through plain ones (narrow groups: a gemm).
  try {
    BwdWeights::primitive_desc chosen =
        make_backward_weights(g, forward, {forward.src_desc(), forward.weights_desc(), forward.dst_desc()});
    if (!is_reference(chosen.impl_info_str())) return chosen;
  } catch (const dnnl::error&) {
    // No kernel at all for these layouts: the plain ones remain.
  }
  return make_backward_weights(g, forward, plain_descriptors(g));
}

ConvAlgorithm choose_algorithm(const ConvGeometry& g, ConvPass pass, const graph::Node& node, Lowering& lowering) {
  const std::string key = node.name + (pass == ConvPass::Forward        ? "/forward"
                                       : pass == ConvPass::BackwardData ? "/backward_data"
                                                                        : "/backward_weights");
  const std::string_view asked = lowering.options().algorithms;
  ConvAlgorithm algorithm = ConvAlgorithm::Direct;
  if (const std::optional<std::string> stored = lowering.stored_choice(key)) {
    algorithm = stored_algorithm(*stored, key, g, pass, asked);
  } else if (lowering.dtype() == DType::Bf16 && asked == "winograd" &&
             can_compute(ConvAlgorithm::WinogradBf16, pass, g)) {
    algorithm = ConvAlgorithm::WinogradBf16;
  } else if (const bool is_bf16 = lowering.dtype() == DType::Bf16 && can_compute(ConvAlgorithm::Bf16, pass, g);
             is_bf16 || asked == "auto") {
    const std::vector<ConvAlgorithm> candidates =
        is_bf16 ? bf16_candidates_of(g, pass, lowering.threads()) : candidates_of(g, pass, lowering.threads());
    algorithm = candidates.front();
    if (asked == "auto" && candidates.size() > 1) {
      const Timings timings = measurements().get(candidates, g, pass, lowering.threads());
      algorithm = fastest_algorithm(candidates, timings, [&](ConvAlgorithm candidate) {
        return pass == ConvPass::Forward && gathers_moments(lowering.graph().find(node.name), candidate, lowering);
      });
      lowering.plan.timings[key] = timings;
    }
  } else if (auto wanted = conv_algorithm(asked)) {
    if (wanted == ConvAlgorithm::Split2 && pass == ConvPass::Forward) wanted = ConvAlgorithm::Split;
    if (can_compute(*wanted, pass, g)) algorithm = *wanted;
  }
  lowering.plan.choices[key] = name_of(algorithm);
  return algorithm;
}

}  // namespace roentgen::engine::cpu
