// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "tests/emulated_engine/plain_convolutions.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/typed.h"

namespace roentgen::emulated {
namespace {
using engine::cuda::ConvOperands;
using engine::cuda::ConvPass;
using engine::cuda::ConvPlan;
using engine::cuda::ConvProblem;

struct Counts {
  std::int64_t src, weights, dst;
};
Counts counts_of(const ConvProblem& p) {
  const auto [out_height, out_width] = p.out_size();
  return {p.images * p.size[0] * p.size[1] * p.channels,
          p.out_channels * p.kernel[0] * p.kernel[1] * (p.channels / p.groups),
          p.images * out_height * out_width * p.out_channels};
}

template <typename T>
std::vector<float> values(const std::byte* from, std::int64_t count) {
  std::vector<float> result(static_cast<std::size_t>(count));
  const T* const typed = reinterpret_cast<const T*>(from);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = engine::cuda::to_float(typed[i]);
  return result;
}
// Rounds to the nearest TF32 number, ties to even: 10 bits of mantissa, exponents of f32. NaN stays NaN.
float rounded_to_tf32(float value) {
  if (!std::isfinite(value)) return value;
  constexpr std::uint32_t kDropped = 13;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t half = (1U << (kDropped - 1)) - 1 + (bits >> kDropped & 1U);
  return std::bit_cast<float>((bits + half) >> kDropped << kDropped);
}

template <typename T>
void write(const std::vector<float>& from, std::byte* to) {
  T* const typed = reinterpret_cast<T*>(to);
  for (std::size_t i = 0; i < from.size(); ++i) engine::cuda::convert(from[i], typed[i]);
}

// Calls body(src offset, weight offset, dst offset) for every result pixel and every tap (element of the window) inside
// the image. Offsets are those of the first channel of a group. Images and taps are visited in order or in reverse.
template <typename Body>
void for_pairs(const ConvProblem& p, bool is_reversed, const Body& body) {
  const auto [out_height, out_width] = p.out_size();
  const std::int64_t pixels = p.images * out_height * out_width, taps = p.kernel[0] * p.kernel[1];
  for (std::int64_t i = 0; i < pixels; ++i) {
    const std::int64_t pixel = is_reversed ? pixels - 1 - i : i;
    const std::int64_t ow = pixel % out_width, oh = pixel / out_width % out_height, n = pixel / out_width / out_height;
    for (std::int64_t j = 0; j < taps; ++j) {
      const std::int64_t tap = is_reversed ? taps - 1 - j : j;
      const std::int64_t h = oh * p.stride[0] - p.pad[0] + tap / p.kernel[1] * p.dilation[0];
      const std::int64_t w = ow * p.stride[1] - p.pad[1] + tap % p.kernel[1] * p.dilation[1];
      if (h < 0 || h >= p.size[0] || w < 0 || w >= p.size[1]) continue;
      body((n * p.size[0] + h) * p.size[1] + w, tap, pixel);
    }
  }
}

// Each of the three passes is a sum over pixels, taps of the window, and input and output channels.
void compute(const ConvProblem& p, bool is_reversed, std::vector<float>& src, std::vector<float>& weights,
             std::vector<float>& dst) {
  const std::int64_t channels = p.channels / p.groups, out_channels = p.out_channels / p.groups;
  const std::int64_t taps = p.kernel[0] * p.kernel[1];
  for_pairs(p, is_reversed, [&](std::int64_t from, std::int64_t tap, std::int64_t to) {
    for (std::int64_t oc = 0; oc < p.out_channels; ++oc) {
      const std::int64_t group = oc / out_channels;
      float* const x = src.data() + from * p.channels + group * channels;
      float* const w = weights.data() + (oc * taps + tap) * channels;
      float& y = dst[static_cast<std::size_t>(to * p.out_channels + oc)];
      if (p.pass == ConvPass::Forward) {
        float sum = 0.0F;
        for (std::int64_t c = 0; c < channels; ++c) sum += x[c] * w[c];
        y += sum;
      } else if (p.pass == ConvPass::DataGradient) {
        for (std::int64_t c = 0; c < channels; ++c) x[c] += y * w[c];
      } else {
        for (std::int64_t c = 0; c < channels; ++c) w[c] += y * x[c];
      }
    }
  });
}

template <typename T>
void run_pass(const ConvProblem& p, bool is_reversed, const ConvOperands& operands, std::size_t workspace_bytes) {
  const Counts counts = counts_of(p);
  std::vector<float> src = values<T>(operands.src, counts.src);
  std::vector<float> weights = values<T>(operands.weights, counts.weights);
  std::vector<float> dst = values<T>(operands.dst, counts.dst);
  if (p.dtype == DType::F32 && p.may_round_to_tf32) {
    for (std::vector<float>* const factors : {&src, &weights, &dst}) {
      for (float& value : *factors) value = rounded_to_tf32(value);
    }
  }
  std::memset(operands.workspace, 0xFF, workspace_bytes);
  std::vector<float>& result = p.pass == ConvPass::Forward ? dst : p.pass == ConvPass::DataGradient ? src : weights;
  std::byte* const to = p.pass == ConvPass::Forward        ? operands.dst
                        : p.pass == ConvPass::DataGradient ? operands.src
                                                           : operands.weights;
  std::ranges::fill(result, 0.0F);
  std::memset(to, 0xFF, result.size() * sizeof(T));
  compute(p, is_reversed, src, weights, dst);
  write<T>(result, to);
}

class PlainPlan final : public ConvPlan {
 public:
  PlainPlan(const ConvProblem& problem, bool is_reversed)
      : problem_(problem), is_reversed_(is_reversed), name_(is_reversed ? "backward" : "forward") {}
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::size_t workspace_bytes() const override { return is_reversed_ ? 1000 : 64; }
  [[nodiscard]] bool is_deterministic() const override { return true; }
  void run(runtime::Stream& stream, const ConvOperands& operands) override {
    for (const std::byte* address : {operands.src, operands.weights, operands.dst, operands.workspace}) {
      if (address == nullptr || reinterpret_cast<std::uintptr_t>(address) % 16 != 0) {
        throw DeviceError(error_text("emulated", "convolution", "operands aligned to 16 bytes", "others"));
      }
    }
    as_emulated(stream).launch("convolution", Dim3(1), Dim3(1), [=, this] {
      engine::cuda::with_type(problem_.dtype, [&](auto number) {
        run_pass<decltype(number)>(problem_, is_reversed_, operands, workspace_bytes());
      });
    });
  }

 private:
  ConvProblem problem_;
  bool is_reversed_;
  std::string name_;
};

class PlainConvolutions final : public engine::cuda::Convolutions {
 public:
  [[nodiscard]] std::vector<std::unique_ptr<ConvPlan>> plans(const ConvProblem& problem, std::size_t most) override {
    std::vector<std::unique_ptr<ConvPlan>> all;
    for (std::size_t i = 0; i < std::min<std::size_t>(most, 2); ++i) {
      all.push_back(std::make_unique<PlainPlan>(problem, i == 1));
    }
    return all;
  }
  [[nodiscard]] std::unique_ptr<ConvPlan> plan_named(const ConvProblem& problem, const std::string& name) override {
    if (name != "forward" && name != "backward") {
      throw DeviceError(error_text("emulated", "convolution", "plan forward or backward", name));
    }
    return std::make_unique<PlainPlan>(problem, name == "backward");
  }
};
}  // namespace

std::unique_ptr<engine::cuda::Convolutions> make_plain_convolutions() { return std::make_unique<PlainConvolutions>(); }

}  // namespace roentgen::emulated
