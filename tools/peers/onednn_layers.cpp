// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Times of convolutions by a oneDNN 3.x, one at a time, for onednn_layers.py, which compiles and runs it. Each line of
// standard input is a layer: pass images channels height width outputs out_height out_width window_height window_width
// stride_height stride_width pad_height pad_width dilation_height dilation_width. Each line of output: milliseconds,
// the least of the runs after a first one that warms up; the kernel's name; "1" where its values lie in blocks.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <limits>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace {
using Md = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

// Number of runs, twice that of `roentgen bench choose`.
constexpr int kRuns = 8;

struct Layer {
  std::string pass;
  Dims src, weights, dst, stride, dilation, pad_low, pad_high;
};

struct Result {
  double ms = std::numeric_limits<double>::infinity();
  std::string kernel;
  bool is_blocked = false;
};

class Bench {
 public:
  template <typename Primitive, typename Descriptor>
  Result run(const Descriptor& pd, const std::vector<std::pair<int, Md>>& arguments, const Md& values) {
    const Primitive primitive(pd);
    std::unordered_map<int, dnnl::memory> memories;
    for (const auto& [index, desc] : arguments) {
      if (desc.get_size() == 0) continue;
      dnnl::memory memory(desc, engine_);
      auto* numbers = static_cast<float*>(memory.get_data_handle());
      std::uint32_t state = 1;
      for (std::size_t i = 0; i < desc.get_size() / sizeof(float); ++i) {
        state = state * 1664525U + 1013904223U;
        numbers[i] = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31F;
      }
      memories.emplace(index, memory);
    }
    Result result{.kernel = pd.impl_info_str(), .is_blocked = values.get_inner_nblks() > 0};
    for (int i = 0; i <= kRuns; ++i) {
      const auto before = std::chrono::steady_clock::now();
      primitive.execute(stream_, memories);
      stream_.wait();
      const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - before;
      if (i > 0) result.ms = std::min(result.ms, taken.count());
    }
    return result;
  }

  Result time(const Layer& layer) {
    const auto any = [](const Dims& dims) {
      return Md(dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any);
    };
    const auto direct = dnnl::algorithm::convolution_direct;
    const dnnl::convolution_forward::primitive_desc forward(
        engine_, dnnl::prop_kind::forward_training, direct, any(layer.src), any(layer.weights), any(layer.dst),
        layer.stride, layer.dilation, layer.pad_low, layer.pad_high);
    if (layer.pass == "forward") {
      return run<dnnl::convolution_forward>(forward,
                                            {{DNNL_ARG_SRC, forward.src_desc()},
                                             {DNNL_ARG_WEIGHTS, forward.weights_desc()},
                                             {DNNL_ARG_DST, forward.dst_desc()}},
                                            forward.src_desc());
    }
    if (layer.pass == "backward_data") {
      const dnnl::convolution_backward_data::primitive_desc pd(engine_, direct, any(layer.src), any(layer.weights),
                                                               any(layer.dst), layer.stride, layer.dilation,
                                                               layer.pad_low, layer.pad_high, forward);
      return run<dnnl::convolution_backward_data>(pd,
                                                  {{DNNL_ARG_DIFF_SRC, pd.diff_src_desc()},
                                                   {DNNL_ARG_WEIGHTS, pd.weights_desc()},
                                                   {DNNL_ARG_DIFF_DST, pd.diff_dst_desc()}},
                                                  pd.diff_src_desc());
    }
    const dnnl::convolution_backward_weights::primitive_desc pd(engine_, direct, any(layer.src), any(layer.weights),
                                                                any(layer.dst), layer.stride, layer.dilation,
                                                                layer.pad_low, layer.pad_high, forward);
    return run<dnnl::convolution_backward_weights>(pd,
                                                   {{DNNL_ARG_SRC, pd.src_desc()},
                                                    {DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc()},
                                                    {DNNL_ARG_DIFF_DST, pd.diff_dst_desc()}},
                                                   pd.src_desc());
  }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
};

// Padding at the end of an axis that gives the output its size.
std::int64_t pad_behind(const Layer& layer, std::size_t axis) {
  const std::int64_t window = (layer.weights[axis + 2] - 1) * (layer.dilation[axis] + 1) + 1;
  return (layer.dst[axis + 2] - 1) * layer.stride[axis] + window - layer.src[axis + 2] - layer.pad_low[axis];
}
}  // namespace

int main() {
  Bench bench;
  const dnnl_version_t* version = dnnl_version();
  std::printf("%d.%d.%d\n", version->major, version->minor, version->patch);
  for (Layer layer; std::cin >> layer.pass;) {
    std::vector<std::int64_t> n(15);
    for (std::int64_t& number : n) std::cin >> number;
    layer.src = {n[0], n[1], n[2], n[3]};
    layer.dst = {n[0], n[4], n[5], n[6]};
    layer.weights = {n[4], n[1], n[7], n[8]};
    layer.stride = {n[9], n[10]};
    layer.pad_low = {n[11], n[12]};
    layer.dilation = {n[13], n[14]};
    layer.pad_high = {pad_behind(layer, 0), pad_behind(layer, 1)};
    const Result result = bench.time(layer);
    std::printf("%.6f %s %d\n", result.ms, result.kernel.c_str(), static_cast<int>(result.is_blocked));
  }
  return 0;
}
