// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/conv2d_algorithm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/thread_annotations.h"
#include "engine/cpu/primitive.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::engine::cpu {
namespace {
using Fwd = dnnl::convolution_forward;
using BwdData = dnnl::convolution_backward_data;
using BwdWeights = dnnl::convolution_backward_weights;

// Winograd must win by this much: small differences are noise, and direct is more accurate.
constexpr double kWorthwhile = 0.95;
constexpr std::size_t kScratchLimit = std::size_t{144} << 20;
constexpr std::int64_t kFewestChannels = 16;
constexpr int kTimedRuns = 4;

// What the end of an axis needs so that the output size comes out as inferred; may be negative.
std::int64_t high_pad(std::int64_t out, std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                      std::int64_t dilation) {
  return (out - 1) * stride + dilation * (kernel - 1) + 1 - in - pad;
}

dnnl::algorithm library_algorithm(ConvAlgorithm algorithm) {
  return algorithm == ConvAlgorithm::Winograd ? dnnl::algorithm::convolution_winograd
                                              : dnnl::algorithm::convolution_direct;
}

struct Descriptors {
  dnnl::memory::desc src;
  dnnl::memory::desc weights;
  dnnl::memory::desc dst;
};

Fwd::primitive_desc make_forward(const ConvGeometry& g, ConvAlgorithm algorithm, bool is_training,
                                 const Descriptors& d) {
  const auto kind = is_training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const auto chosen = library_algorithm(algorithm);
  if (g.bias.empty()) {
    return {{kind, chosen, d.src, d.weights, d.dst, g.stride, g.dilation, g.pad_low, g.pad_high},
            user_scratchpad(),
            library_engine()};
  }
  return {
      {kind, chosen, d.src, d.weights, plain_descriptor(g.bias), d.dst, g.stride, g.dilation, g.pad_low, g.pad_high},
      user_scratchpad(),
      library_engine()};
}

BwdData::primitive_desc make_backward_data(const ConvGeometry& g, ConvAlgorithm algorithm,
                                           const Fwd::primitive_desc& forward, const Descriptors& d) {
  return {{library_algorithm(algorithm), d.src, d.weights, d.dst, g.stride, g.dilation, g.pad_low, g.pad_high},
          user_scratchpad(),
          library_engine(),
          forward};
}

BwdWeights::primitive_desc make_backward_weights(const ConvGeometry& g, ConvAlgorithm algorithm,
                                                 const Fwd::primitive_desc& forward, const Descriptors& d) {
  const auto chosen = library_algorithm(algorithm);
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

Fwd::primitive_desc direct_forward(const ConvGeometry& g, bool is_training) {
  const Descriptors any{any_descriptor(dims_of(g.src)), any_descriptor(g.weights), any_descriptor(dims_of(g.dst))};
  Fwd::primitive_desc chosen = make_forward(g, ConvAlgorithm::Direct, is_training, any);
  const bool is_known = layout_of(chosen.src_desc(), g.src).block > 0 && layout_of(chosen.dst_desc(), g.dst).block > 0;
  if (is_known && !is_reference(chosen.impl_info_str())) return chosen;
  return make_forward(g, ConvAlgorithm::Direct, is_training, plain_descriptors(g));
}

// Best time of a primitive on buffers of its own, in seconds.
template <typename Descriptor, typename Primitive>
double time_primitive(const Descriptor& pd, const std::vector<std::pair<int, dnnl::memory::desc>>& arguments) {
  std::vector<runtime::AlignedBuffer> buffers;
  std::unordered_map<int, dnnl::memory> memories;
  for (const auto& [index, desc] : arguments) {
    if (desc.get_size() == 0) continue;
    buffers.emplace_back(desc.get_size());
    memories.emplace(index, dnnl::memory(desc, library_engine(), buffers.back().data()));
  }
  const Primitive primitive(pd);
  dnnl::stream stream(library_engine());
  double best_s = std::numeric_limits<double>::infinity();
  for (int run = 0; run <= kTimedRuns; ++run) {
    const auto before = std::chrono::steady_clock::now();
    primitive.execute(stream, memories);
    stream.wait();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
    if (run > 0) best_s = std::min(best_s, taken.count());  // the first run warms up
  }
  return best_s;
}

struct Timed {
  double seconds = std::numeric_limits<double>::infinity();
  std::size_t scratch_bytes = 0;
};

Timed time_pass(const ConvGeometry& g, ConvPass pass, ConvAlgorithm algorithm, bool is_training) {
  const auto fits = [&](const dnnl::memory::desc& scratch) {
    return algorithm == ConvAlgorithm::Direct || scratch.get_size() <= kScratchLimit;
  };
  if (pass == ConvPass::Forward) {
    const auto pd = conv_forward(g, algorithm, is_training);
    if (!fits(pd.scratchpad_desc())) return {};
    return {time_primitive<Fwd::primitive_desc, Fwd>(pd, {{DNNL_ARG_SRC, pd.src_desc()},
                                                          {DNNL_ARG_WEIGHTS, pd.weights_desc()},
                                                          {DNNL_ARG_BIAS, pd.bias_desc()},
                                                          {DNNL_ARG_DST, pd.dst_desc()},
                                                          {DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc()}})};
  }
  if (pass == ConvPass::BackwardData) {
    const auto pd = conv_backward_data(g, algorithm);
    if (!fits(pd.scratchpad_desc())) return {};
    return {time_primitive<BwdData::primitive_desc, BwdData>(pd, {{DNNL_ARG_DIFF_SRC, pd.diff_src_desc()},
                                                                  {DNNL_ARG_WEIGHTS, pd.weights_desc()},
                                                                  {DNNL_ARG_DIFF_DST, pd.diff_dst_desc()},
                                                                  {DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc()}})};
  }
  const auto pd = conv_backward_weights(g, algorithm);
  if (!fits(pd.scratchpad_desc())) return {};
  return {time_primitive<BwdWeights::primitive_desc, BwdWeights>(pd, {{DNNL_ARG_SRC, pd.src_desc()},
                                                                      {DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc()},
                                                                      {DNNL_ARG_DIFF_BIAS, pd.diff_bias_desc()},
                                                                      {DNNL_ARG_DIFF_DST, pd.diff_dst_desc()},
                                                                      {DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc()}})};
}

bool can_be_winograd(const ConvGeometry& g) {
  const bool is_3x3 = g.weights.size() == 4 && g.weights[2] == 3 && g.weights[3] == 3;
  return is_3x3 && g.stride == dnnl::memory::dims{1, 1} && g.dilation == dnnl::memory::dims{0, 0} &&
         g.weights[0] >= kFewestChannels && g.weights[1] >= kFewestChannels;
}

ConvAlgorithm measure(const ConvGeometry& g, ConvPass pass, bool is_training) {
  try {
    const double direct_s = time_pass(g, pass, ConvAlgorithm::Direct, is_training).seconds;
    const double winograd_s = time_pass(g, pass, ConvAlgorithm::Winograd, is_training).seconds;
    return winograd_s < kWorthwhile * direct_s ? ConvAlgorithm::Winograd : ConvAlgorithm::Direct;
  } catch (const dnnl::error&) {
    return ConvAlgorithm::Direct;  // no Winograd kernel for this geometry or instruction set
  }
}

// What was measured in this process, by geometry, pass and team size.
class Measurements {
 public:
  ConvAlgorithm get(const ConvGeometry& g, ConvPass pass, const Lowering& lowering) {
    const std::string key = fmt::format("{} {} {} {} {} {}", g.src.text(), g.dst.text(), fmt::join(g.weights, ","),
                                        static_cast<int>(pass), lowering.is_training(), lowering.threads());
    const MutexLock lock(mutex_);
    const auto found = measured_.find(key);
    if (found != measured_.end()) return found->second;
    return measured_[key] = measure(g, pass, lowering.is_training());
  }

 private:
  Mutex mutex_;
  std::map<std::string, ConvAlgorithm> measured_ RG_GUARDED_BY(mutex_);
};

Measurements& measurements() {
  static Measurements instance;
  return instance;
}

std::string_view name_of(ConvAlgorithm algorithm) {
  return algorithm == ConvAlgorithm::Winograd ? "winograd" : "direct";
}

// A stored Winograd choice must be one this machine's library can follow.
void require_possible(const ConvGeometry& g, ConvPass pass, const std::string& key, bool is_training) {
  try {
    if (pass == ConvPass::Forward) static_cast<void>(conv_forward(g, ConvAlgorithm::Winograd, is_training));
    if (pass == ConvPass::BackwardData) static_cast<void>(conv_backward_data(g, ConvAlgorithm::Winograd));
    if (pass == ConvPass::BackwardWeights) static_cast<void>(conv_backward_weights(g, ConvAlgorithm::Winograd));
  } catch (const dnnl::error&) {
    throw ConfigError(error_text("engine.plan", key, "a machine with a Winograd kernel for this layer",
                                 library_description(), "a new run with --algorithms direct"));
  }
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

Fwd::primitive_desc conv_forward(const ConvGeometry& g, ConvAlgorithm algorithm, bool is_training) {
  Fwd::primitive_desc direct = direct_forward(g, is_training);
  if (algorithm == ConvAlgorithm::Direct) return direct;
  return make_forward(g, algorithm, is_training, {direct.src_desc(), direct.weights_desc(), direct.dst_desc()});
}

BwdData::primitive_desc conv_backward_data(const ConvGeometry& g, ConvAlgorithm algorithm) {
  const Fwd::primitive_desc forward = direct_forward(g, true);
  BwdData::primitive_desc chosen =
      make_backward_data(g, algorithm, forward, {forward.src_desc(), any_descriptor(g.weights), forward.dst_desc()});
  if (!is_reference(chosen.impl_info_str())) return chosen;
  return make_backward_data(g, ConvAlgorithm::Direct, forward, plain_descriptors(g));
}

BwdWeights::primitive_desc conv_backward_weights(const ConvGeometry& g, ConvAlgorithm algorithm) {
  const Fwd::primitive_desc forward = direct_forward(g, true);
  const Descriptors fixed{forward.src_desc(), forward.weights_desc(), forward.dst_desc()};
  if (algorithm == ConvAlgorithm::Winograd) return make_backward_weights(g, algorithm, forward, fixed);
  // In the forward's layouts where a fast kernel takes them, else through plain ones (narrow groups: a gemm).
  try {
    BwdWeights::primitive_desc chosen = make_backward_weights(g, algorithm, forward, fixed);
    if (!is_reference(chosen.impl_info_str())) return chosen;
  } catch (const dnnl::error&) {
    // No kernel at all for these layouts: the plain ones remain.
  }
  return make_backward_weights(g, algorithm, forward, plain_descriptors(g));
}

ConvAlgorithm choose_algorithm(const ConvGeometry& g, ConvPass pass, const graph::Node& node, Lowering& lowering) {
  const std::string key = node.name + (pass == ConvPass::Forward        ? "/forward"
                                       : pass == ConvPass::BackwardData ? "/backward_data"
                                                                        : "/backward_weights");
  std::optional<std::string> stored = lowering.stored_choice(key);
  ConvAlgorithm algorithm = ConvAlgorithm::Direct;
  if (stored) {
    if (*stored != "direct" && *stored != "winograd") {
      throw ConfigError(error_text("engine.plan", key, "direct or winograd", *stored));
    }
    if (*stored == "winograd") {
      require_possible(g, pass, key, lowering.is_training());
      algorithm = ConvAlgorithm::Winograd;
    }
  } else if (lowering.options().algorithms == "auto" && can_be_winograd(g)) {
    algorithm = measurements().get(g, pass, lowering);
  }
  lowering.plan.choices[key] = name_of(algorithm);
  return algorithm;
}

}  // namespace roentgen::engine::cpu
