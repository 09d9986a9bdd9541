// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Hashes of each kernel's output for fixed inputs. tests/golden/cuda_bits.csv has the emulator's hashes. A GPU must
// give the same hashes, because kernels round only where their source says so and sum in a fixed order.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "core/text_hash.h"
#include "engine/cuda/elementwise/relu_bias.h"
#include "engine/cuda/kernel_checks_testing.h"
#include "engine/cuda/kernel_testing.h"
#include "engine/cuda/norm/norm.h"
#include "engine/cuda/norm/segments.h"
#include "engine/cuda/normalise_testing.h"
#include "engine/cuda/pool/norm_pool.h"
#include "engine/cuda/update/update_testing.h"

namespace roentgen::engine::cuda {

/// Hash of each output, by its name.
using KernelBits = std::map<std::string, std::uint64_t>;

namespace kernel_bits_testing {

template <typename T>
std::uint64_t hash_of(const DeviceArray<T>& array) {
  const std::vector<T> values = array.read();
  return text_hash({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

inline std::uint64_t hash_of(const Arena& arena) {
  const std::vector<float> values = arena.values();
  return text_hash({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

/// Creates the device arrays of a case, with values drawn from consecutive seeds.
struct Source {
  runtime::Device& device;
  runtime::Stream& stream;
  DType type;
  std::uint32_t seed = 1;

  [[nodiscard]] DeviceArray<std::byte> values(std::size_t count) {
    return {device, stream, encoded(type, random_values(type, count, ++seed))};
  }
  [[nodiscard]] DeviceArray<float> floats(std::size_t count, float mean) {
    return {device, stream, random_values(DType::F32, count, ++seed, mean, 0.5F)};
  }
  [[nodiscard]] DeviceArray<std::byte> empty(std::size_t count) { return {device, stream, count * size_of(type)}; }
  [[nodiscard]] DeviceArray<float> empty_floats(std::size_t count) { return {device, stream, count}; }
};

/// Per-channel results of a norm.
struct Results {
  explicit Results(Source& source, std::size_t channels)
      : mean(source.empty_floats(channels)),
        inv_std(source.empty_floats(channels)),
        scale(source.empty_floats(channels)),
        shift(source.empty_floats(channels)),
        dgamma(source.empty_floats(channels)),
        dbeta(source.empty_floats(channels)),
        slope(source.empty_floats(channels)),
        offset(source.empty_floats(channels)) {}
  DeviceArray<float> mean, inv_std, scale, shift, dgamma, dbeta, slope, offset;
};

/// Runs the statistics, the ReLU with residual, and the backward with two gradients. Each kernel reads what the
/// previous one wrote.
inline void add_norm(Source source, KernelBits& bits) {
  const NormShape shape{.type = source.type, .rows = 3000, .channels = 72};
  constexpr std::size_t kChannels = 72, kElements = 3000 * kChannels;
  const auto x = source.values(kElements), residual = source.values(kElements), dy = source.values(kElements);
  const auto second = source.values(kElements), y = source.empty(kElements), g = source.empty(kElements);
  const auto dx = source.empty(kElements);
  const auto gamma = source.floats(kChannels, 1), beta = source.floats(kChannels, 0);
  const auto running_mean = source.floats(kChannels, 0), running_var = source.floats(kChannels, 1);
  const DeviceArray<std::uint8_t> passed(source.device, source.stream, kElements / 8);
  const auto partials = source.empty_floats(norm_partials(shape));
  const DeviceArray<unsigned> counters(source.device, source.stream, std::vector<unsigned>(norm_counters(shape)));
  const Results r(source, kChannels);
  const NormScratch scratch{partials.get(), counters.get()};
  norm_statistics(source.stream, shape, x.get(),
                  {gamma.get(), beta.get(), r.mean.get(), r.inv_std.get(), r.scale.get(), r.shift.get()},
                  {.mean = running_mean.get(), .var = running_var.get()}, scratch);
  norm_apply(source.stream, shape,
             {.x = x.get(),
              .residual = residual.get(),
              .scale = r.scale.get(),
              .shift = r.shift.get(),
              .y = y.get(),
              .passed = passed.get()});
  norm_gradient_sums(source.stream, shape,
                     {.mask = NormMask::Bits,
                      .x = x.get(),
                      .dy = dy.get(),
                      .second = second.get(),
                      .passed = passed.get(),
                      .masked = g.get(),
                      .mean = r.mean.get(),
                      .inv_std = r.inv_std.get(),
                      .scale = r.scale.get(),
                      .shift = r.shift.get(),
                      .dgamma = r.dgamma.get(),
                      .dbeta = r.dbeta.get(),
                      .slope = r.slope.get(),
                      .offset = r.offset.get()},
                     scratch);
  norm_gradient_apply(
      source.stream, shape,
      {NormMask::None, x.get(), g.get(), r.scale.get(), nullptr, r.slope.get(), r.offset.get(), dx.get()});
  const std::string name = "norm_" + std::string(name_of(source.type)) + "_";
  bits[name + "scale"] = hash_of(r.scale), bits[name + "shift"] = hash_of(r.shift);
  bits[name + "running_var"] = hash_of(running_var), bits[name + "y"] = hash_of(y);
  bits[name + "passed"] = hash_of(passed), bits[name + "g"] = hash_of(g);
  bits[name + "dgamma"] = hash_of(r.dgamma), bits[name + "dbeta"] = hash_of(r.dbeta), bits[name + "dx"] = hash_of(dx);
}

/// Runs the moments of three segments, a norm over all of them, and the backward of two such norms.
inline void add_segments(Source source, KernelBits& bits) {
  constexpr std::size_t kRows = 1500, kChannels = 120;
  const int counts[] = {64, 24, 32};
  NormShape shape{.type = source.type, .rows = kRows, .channels = kChannels};
  const DeviceArray<float> partials = source.empty_floats(norm_segments_partials(shape, 2) + norm_partials(shape));
  const DeviceArray<unsigned> counters(source.device, source.stream, std::vector<unsigned>(64));
  const NormScratch scratch{partials.get(), counters.get()};
  const auto gamma = source.floats(kChannels, 1), beta = source.floats(kChannels, 0);
  const auto running_mean = source.floats(kChannels, 0), running_var = source.floats(kChannels, 1);
  const auto scale = source.empty_floats(kChannels), shift = source.empty_floats(kChannels);
  const auto y = source.empty(kRows * kChannels), dy = source.values(kRows * kChannels);
  const auto second = source.values(kRows * kChannels);
  std::vector<DeviceArray<std::byte>> x, sums;
  std::vector<DeviceArray<float>> moments, slopes;
  std::vector<NormSegment> forward;
  std::vector<SegmentGradient> backward;
  int begin = 0;
  for (const int count : counts) {
    const auto size = static_cast<std::size_t>(count);
    shape.channels = count;
    x.push_back(source.values(kRows * size)), sums.push_back(source.values(kRows * size));
    moments.push_back(source.empty_floats(2 * size)), slopes.push_back(source.floats(2 * size, 0));
    norm_moments(source.stream, shape, x.back().get(), moments.back().get(), scratch);
    forward.push_back({x.back().get(), moments.back().get(), count, begin});
    backward.push_back({x.back().get(),
                        moments.back().get(),
                        sums.back().get(),
                        slopes.back().get(),
                        count,
                        {begin, begin},
                        begin == 0});
    begin += count;
  }
  shape.channels = kChannels;
  norm_segments_apply(source.stream, shape,
                      {.segments = forward,
                       .gamma = gamma.get(),
                       .beta = beta.get(),
                       .running = {.mean = running_mean.get(), .var = running_var.get()},
                       .scale = scale.get(),
                       .shift = shift.get(),
                       .y = y.get()});
  const auto dgamma = source.empty_floats(kChannels), dbeta = source.empty_floats(kChannels);
  const auto dgamma2 = source.empty_floats(kChannels), dbeta2 = source.empty_floats(kChannels);
  norm_segments_backward(
      source.stream, shape,
      {.segments = backward,
       .norms = {NormSegmentsGradient{dy.get(), kChannels, scale.get(), shift.get(), dgamma.get(), dbeta.get()},
                 NormSegmentsGradient{second.get(), kChannels, scale.get(), shift.get(), dgamma2.get(), dbeta2.get(),
                                      1e-5F, false}},
       .norm_count = 2},
      scratch);
  const std::string name = "segments_" + std::string(name_of(source.type)) + "_";
  bits[name + "y"] = hash_of(y), bits[name + "running_var"] = hash_of(running_var);
  bits[name + "moments"] = hash_of(moments[1]), bits[name + "sum"] = hash_of(sums[1]);
  bits[name + "first_sum"] = hash_of(sums[0]), bits[name + "slopes"] = hash_of(slopes[2]);
  bits[name + "dgamma"] = hash_of(dgamma), bits[name + "dbeta2"] = hash_of(dbeta2);
}

inline void add_pool(Source source, KernelBits& bits) {
  const PoolShape shape{.type = source.type, .images = 2, .height = 33, .width = 30, .channels = 64};
  constexpr std::size_t kElements = 2 * 33 * 30 * 64;
  const auto count = static_cast<std::size_t>(shape.out_elements());
  const auto x = source.values(kElements), g = source.values(count), y = source.empty(count);
  const auto kept = source.empty(count), dx = source.empty(kElements);
  const auto scale = source.floats(64, 1), shift = source.floats(64, 0), slope = source.floats(64, 0);
  const DeviceArray<std::uint8_t> winner(source.device, source.stream, count);
  norm_pool(source.stream, shape, {x.get(), scale.get(), shift.get(), y.get(), kept.get(), winner.get()});
  norm_pool_gradient(source.stream, shape,
                     {x.get(), g.get(), winner.get(), scale.get(), slope.get(), shift.get(), dx.get()});
  const std::string name = "pool_" + std::string(name_of(source.type)) + "_";
  bits[name + "y"] = hash_of(y), bits[name + "kept"] = hash_of(kept), bits[name + "winner"] = hash_of(winner);
  bits[name + "dx"] = hash_of(dx);
}

inline void add_relu_bias(Source source, KernelBits& bits) {
  constexpr std::size_t kChannels = 72, kElements = 3000 * kChannels;
  const NormShape shape{.type = source.type, .rows = 3000, .channels = 72};
  const auto y = source.values(kElements), dy = source.values(kElements), dx = source.empty(kElements);
  const auto sums = source.empty_floats(kChannels), partials = source.empty_floats(norm_partials(shape));
  const DeviceArray<unsigned> counters(source.device, source.stream, std::vector<unsigned>(norm_counters(shape)));
  relu_bias_gradient(source.stream, shape, {y.get(), dy.get(), dx.get(), sums.get()}, {partials.get(), counters.get()});
  const std::string name = "relu_bias_" + std::string(name_of(source.type)) + "_";
  bits[name + "dx"] = hash_of(dx), bits[name + "sums"] = hash_of(sums);
}

/// Runs every rule on two ranges, of which only the first is a layer.
inline void add_updates(const Source& source, KernelBits& bits) {
  constexpr std::int64_t kCount = 50000;
  const UpdateRange ranges[] = {{.count = 30001, .weight_decay = 1e-3, .is_layer = true},
                                {.begin = 30016, .count = kCount - 30016}};
  std::size_t number = 0;
  for (const auto& [case_name, rule, lr] : rule_cases()) {
    update_testing::Arenas arenas(source.device, source.stream, kCount, state_of(rule).size(), 17);
    const UpdateWork work{.target = arenas.target,
                          .source = arenas.source,
                          .state = arenas.state,
                          .ranges = ranges,
                          .lr = 0.1,
                          .step = 3,
                          .scale = 0.125};
    update_testing::run(source.device, source.stream, rule, work);
    const std::string name = "update_" + std::to_string(number++);
    for (const Arena* arena : arenas.state) bits[name + "_state"] ^= hash_of(*arena);
    bits[name] = hash_of(arenas.target);
  }
}

inline void add_normalise(Source source, KernelBits& bits) {
  const Normalise work =
      with_constants({.dst = source.type, .images = 2, .channels = 3, .pixels = 5000, .dst_channels = 4});
  std::vector<std::byte> samples(src_bytes(work));
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::byte>(i * i >> 3);
  const auto src = source.device.make_device_buffer(samples.size()),
             dst = source.device.make_device_buffer(dst_bytes(work));
  std::vector<std::byte> result(dst_bytes(work));
  source.stream.upload(samples, *src, 0);
  normalise(source.stream, work, src->address(), dst->address());
  source.stream.download(*dst, 0, result);
  source.stream.synchronize();
  bits["normalise_" + std::string(name_of(source.type))] =
      text_hash({reinterpret_cast<const char*>(result.data()), result.size()});
}

}  // namespace kernel_bits_testing

/// Returns the hashes of all kernels, in each type of values.
[[nodiscard]] inline KernelBits kernel_bits(runtime::Device& device) {
  namespace cases = kernel_bits_testing;
  KernelBits bits;
  const auto stream = device.make_stream();
  for (const DType type : {DType::Bf16, DType::F16, DType::F32}) {
    cases::add_norm({device, *stream, type}, bits);
    cases::add_segments({device, *stream, type}, bits);
    cases::add_pool({device, *stream, type}, bits);
    cases::add_relu_bias({device, *stream, type}, bits);
    if (type == DType::F32) cases::add_updates({device, *stream, type}, bits);
    if (type != DType::F16) cases::add_normalise({device, *stream, type}, bits);
  }
  for (const KernelCheck& each : kKernelChecks) {
    if (each.bits == Bits::Equal) bits[std::string(each.name)] = each.check(device).bits;
  }
  return bits;
}

/// Reads tests/golden/cuda_bits.csv, whose lines are "name,hash in hexadecimal".
[[nodiscard]] inline KernelBits golden_bits() {
  const char* const source = std::getenv("ROENTGEN_SOURCE_DIR");
  std::ifstream file(std::filesystem::path(source == nullptr ? "." : source) / "tests/golden/cuda_bits.csv");
  KernelBits bits;
  std::string name, hash;
  while (std::getline(file, name, ',') && std::getline(file, hash)) bits[name] = std::stoull(hash, nullptr, 16);
  return bits;
}

}  // namespace roentgen::engine::cuda
