// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// kernels_bench: times the CUDA kernels of engine/cuda at the shapes of ResNet-50 and DenseNet-121 (224 px, batch 256
// and 64), and compares them with the speed of a copy in the same run. A time is the median of 51 replays of a graph of
// launches that rotate over more memory than the L2 cache holds. engine_cuda_gpu_test checks what the kernels compute.
#include <memory>
#include <variant>

#include "core/error.h"
#include "engine/cuda/elementwise/relu_bias.h"
#include "engine/cuda/normalise.h"
#include "engine/cuda/pool/norm_pool.h"
#include "engine/cuda/update/updates.h"
#include "tools/gpu/segments_bench.h"

namespace roentgen::engine::cuda {
namespace {

/// Device pointers of one of the rotating buffer sets of a batch norm.
struct NormCase {
  void *x, *y, *residual, *dy, *second, *dx;
  std::uint8_t* passed;
  NormChannels c;
  NormRunning running;
  NormScratch scratch;
  float *dgamma, *dbeta, *slope, *offset;
};

NormCase norm_case(Pool& pool, const NormShape& shape, unsigned seed) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const std::size_t bytes = static_cast<std::size_t>(shape.rows) * channels * 2;
  NormCase n{};
  n.x = pool.random(bytes, seed), n.residual = pool.random(bytes, seed + 1), n.dy = pool.random(bytes, seed + 2);
  n.second = pool.random(bytes, seed + 3), n.y = pool.take(bytes), n.dx = pool.take(bytes);
  n.passed = static_cast<std::uint8_t*>(pool.random(bytes / 16, seed + 4));
  n.c = {pool.floats(channels, 1.1F), pool.floats(channels, 0.1F), pool.floats(channels, 0.0F),
         pool.floats(channels, 0.9F), pool.floats(channels, 1.0F), pool.floats(channels, 0.1F)};
  n.running = {pool.floats(channels, 0), pool.floats(channels, 1)};
  n.scratch = {pool.floats(norm_partials(shape), 0), pool.zeros(norm_counters(shape))};
  n.dgamma = pool.floats(channels, 0), n.dbeta = pool.floats(channels, 0);
  n.slope = pool.floats(channels, 0.01F), n.offset = pool.floats(channels, 0.01F);
  return n;
}

NormSums sums_of(const NormCase& n, NormMask mask, bool tail) {
  return {.mask = mask,
          .x = n.x,
          .dy = n.dy,
          .second = tail ? n.second : nullptr,
          .passed = tail ? n.passed : nullptr,
          .masked = tail ? n.y : nullptr,
          .mean = n.c.mean,
          .inv_std = n.c.inv_std,
          .scale = n.c.scale,
          .shift = n.c.shift,
          .dgamma = n.dgamma,
          .dbeta = n.dbeta,
          .slope = n.slope,
          .offset = n.offset};
}

/// Times of one shape, in microseconds.
struct NormTimes {
  double forward = 0, backward = 0, tail_forward = 0, tail_backward = 0, floor_us = 0, tail_floor_us = 0;
};

NormTimes time_norm(Pool& pool, runtime::cuda::CudaStream& s, std::int64_t rows, int channels, bool parts) {
  pool.reset();
  const NormShape shape{.rows = rows, .channels = channels, .multiprocessors = multiprocessors};
  const double e = static_cast<double>(rows) * channels * 2;
  const int rotations = std::max(2, static_cast<int>(kRotation / (3 * e)) + 1);
  std::vector<NormCase> all;
  for (int i = 0; i < rotations; ++i) all.push_back(norm_case(pool, shape, static_cast<unsigned>(i) * 977));
  const std::string name = std::to_string(rows) + "x" + std::to_string(channels);
  const auto timed = [&](const char* what, double bytes, const std::function<void(const NormCase&)>& work) {
    const double us = time_us(s, bytes, rotations, [&](int i) { work(all[static_cast<std::size_t>(i)]); });
    row(what, name, bytes, us);
    return us;
  };
  const auto statistics = [&](const NormCase& n) { norm_statistics(s, shape, n.x, n.c, n.running, n.scratch); };
  const auto apply = [&](const NormCase& n) {
    norm_apply(s, shape, {.x = n.x, .scale = n.c.scale, .shift = n.c.shift, .y = n.y});
  };
  const auto apply_tail = [&](const NormCase& n) {
    norm_apply(
        s, shape,
        {.x = n.x, .residual = n.residual, .scale = n.c.scale, .shift = n.c.shift, .y = n.y, .passed = n.passed});
  };
  const auto apply_two = [&](const NormCase& n) {
    norm_apply(s, shape,
               {.x = n.x,
                .residual = n.residual,
                .residual_scale = n.c.scale,
                .residual_shift = n.c.shift,
                .scale = n.c.scale,
                .shift = n.c.shift,
                .y = n.y,
                .passed = n.passed});
  };
  const auto sums = [&](const NormCase& n) {
    norm_gradient_sums(s, shape, sums_of(n, NormMask::Recomputed, false), n.scratch);
  };
  const auto sums_tail = [&](const NormCase& n) {
    norm_gradient_sums(s, shape, sums_of(n, NormMask::Bits, true), n.scratch);
  };
  const auto gradient = [&](const NormCase& n) {
    norm_gradient_apply(s, shape, {NormMask::Recomputed, n.x, n.dy, n.c.scale, n.c.shift, n.slope, n.offset, n.dx});
  };
  const auto gradient_tail = [&](const NormCase& n) {
    norm_gradient_apply(s, shape, {NormMask::None, n.x, n.y, n.c.scale, n.c.shift, n.slope, n.offset, n.dx});
  };
  if (parts) {
    timed("statistics", e, statistics);
    timed("apply relu", 2 * e, apply);
    timed("apply residual bits", 3.0625 * e, apply_tail);
    timed("apply normalised residual", 3.0625 * e, apply_two);
    timed("sums, mask recomputed", 2 * e, sums);
    timed("sums, bits, second, g", 4.0625 * e, sums_tail);
    timed("gradient, mask recomputed", 3 * e, gradient);
    timed("gradient, masked before", 3 * e, gradient_tail);
  }
  NormTimes t;
  t.forward = timed("FORWARD", 3 * e, [&](const NormCase& n) { statistics(n), apply(n); });
  t.tail_forward = timed("FORWARD residual", 4.0625 * e, [&](const NormCase& n) { statistics(n), apply_tail(n); });
  t.backward = timed("BACKWARD", 5 * e, [&](const NormCase& n) { sums(n), gradient(n); });
  t.tail_backward = timed("BACKWARD residual", 7.0625 * e, [&](const NormCase& n) { sums_tail(n), gradient_tail(n); });
  t.floor_us = 8 * e / copy_gb_s / 1e3;
  t.tail_floor_us = (4.0625 + 7.0625) * e / copy_gb_s / 1e3;
  return t;
}

void time_pool(Pool& pool, runtime::cuda::CudaStream& s, int images) {
  pool.reset();
  const PoolShape shape{.images = images, .height = 112, .width = 112, .channels = 64};
  const double e = images * 112.0 * 112 * 64 * 2, out = e / 4;
  const int rotations = std::max(2, static_cast<int>(kRotation / (2 * e)) + 1);
  const std::string name = std::to_string(images) + "x112x112x64";
  struct Case {
    void *x, *y, *kept, *dx;
    std::uint8_t* winner;
  };
  std::vector<Case> all;
  for (int i = 0; i < rotations; ++i) {
    const auto size = static_cast<std::size_t>(e), small = static_cast<std::size_t>(out);
    all.push_back({pool.random(size, 5U + static_cast<unsigned>(i)), pool.random(small, 6), pool.take(small),
                   pool.take(size), pool.take<std::uint8_t>(small / 2)});
  }
  float *scale = pool.floats(64, 1), *shift = pool.floats(64, 0.1F);
  double us = time_us(s, e + 2.5 * out, rotations, [&](int i) {
    const Case& c = all[static_cast<std::size_t>(i)];
    norm_pool(s, shape, {c.x, scale, shift, c.y, c.kept, c.winner});
  });
  row("norm_pool", name, e + 2.5 * out, us);
  us = time_us(s, 2 * e + 1.5 * out, rotations, [&](int i) {
    const Case& c = all[static_cast<std::size_t>(i)];
    norm_pool_gradient(s, shape, {c.x, c.y, c.winner, scale, scale, shift, c.dx});
  });
  row("norm_pool_gradient", name, 2 * e + 1.5 * out, us);
}

void time_relu_bias(Pool& pool, runtime::cuda::CudaStream& s, int side, int channels) {
  pool.reset();
  constexpr int kImages = 128;
  const NormShape shape{.rows = std::int64_t{kImages} * side * side, .channels = channels, .multiprocessors = multiprocessors};
  const double e = static_cast<double>(shape.rows) * channels * 2;
  const auto size = static_cast<std::size_t>(e);
  const int rotations = std::max(2, static_cast<int>(kRotation / (3 * e)) + 1);
  std::vector<ReluBias> all;
  for (int i = 0; i < rotations; ++i) {
    const auto seed = static_cast<unsigned>(i);
    all.push_back({static_cast<std::byte*>(pool.random(size, seed)), static_cast<std::byte*>(pool.random(size, seed + 50)),
                   pool.take<std::byte>(size), pool.floats(static_cast<std::size_t>(channels), 0)});
  }
  const NormScratch scratch{pool.floats(norm_partials(shape), 0), pool.zeros(norm_counters(shape))};
  const double us = time_us(s, 3 * e, rotations, [&](int i) {
    relu_bias_gradient(s, shape, all[static_cast<std::size_t>(i)], scratch);
  });
  row("relu_bias_gradient", std::to_string(kImages) + "x" + std::to_string(side) + "x" + std::to_string(side) + "x" +
      std::to_string(channels), 3 * e, us);
}

void time_update(runtime::Device& device, Pool& pool, runtime::cuda::CudaStream& s, const char* name,
                 const UpdateRule& rule, std::int64_t parameters, int tensors) {
  pool.reset();
  const std::int64_t each = parameters / tensors / 16 * 16;
  std::vector<UpdateRange> ranges;
  for (int i = 0; i < tensors; ++i) ranges.push_back({.begin = i * each, .count = each, .weight_decay = 1e-4});
  const std::vector<UpdatePart> parts = update_parts(ranges);
  auto* device_parts = pool.take<UpdatePart>(parts.size() * sizeof(UpdatePart));
  check(cudaMemcpy(device_parts, parts.data(), parts.size() * sizeof(UpdatePart), cudaMemcpyHostToDevice), "parts");
  const StepState numbers;
  auto* state = pool.take<StepState>(sizeof numbers);
  check(cudaMemcpy(state, &numbers, sizeof numbers, cudaMemcpyHostToDevice), "state");
  const std::size_t states = state_of(rule).size();
  const double bytes = static_cast<double>(each) * tensors * 4.0 * static_cast<double>(3 + 2 * states);
  const int rotations = std::max(2, static_cast<int>(kRotation / bytes) + 1);
  struct Arenas {
    std::vector<std::unique_ptr<engine::Arena>> owned;
    std::vector<engine::Arena*> state;
  };
  std::vector<Arenas> all(static_cast<std::size_t>(rotations));
  for (Arenas& one : all) {
    for (std::size_t i = 0; i < 2 + states; ++i)
      one.owned.push_back(std::make_unique<engine::Arena>(device, s, parameters));
    for (std::size_t i = 0; i < states; ++i) one.state.push_back(one.owned[2 + i].get());
  }
  const double us = time_us(s, bytes, rotations, [&](int i) {
    const Arenas& one = all[static_cast<std::size_t>(i)];
    const engine::UpdateWork work{
        .target = *one.owned[0], .source = *one.owned[1], .state = one.state, .ranges = ranges, .lr = 0.01};
    const UpdateCall call{
        .stream = s, .work = work, .state = state, .parts = device_parts, .part_count = std::ssize(parts)};
    std::visit([&](const auto& rule_of_type) { update(rule_of_type, call); }, rule);
  });
  row(name, std::to_string(parameters), bytes, us);
}

void time_normalise(runtime::Device& device, runtime::cuda::CudaStream& s, std::int64_t images, std::int64_t channels,
                    std::int64_t dst_channels) {
  const Normalise work{.images = images, .channels = channels, .pixels = 224 * 224, .dst_channels = dst_channels};
  const double bytes = static_cast<double>(src_bytes(work) + dst_bytes(work));
  const int rotations = std::max(2, static_cast<int>(kRotation / bytes) + 1);
  std::vector<std::unique_ptr<runtime::DeviceBuffer>> src, dst;
  for (int i = 0; i < rotations; ++i) {
    src.push_back(device.make_device_buffer(src_bytes(work)));
    dst.push_back(device.make_device_buffer(dst_bytes(work)));
  }
  const double us = time_us(s, bytes, rotations, [&](int i) {
    normalise(s, work, src[static_cast<std::size_t>(i)]->address(), dst[static_cast<std::size_t>(i)]->address());
  });
  row("normalise u8 " + std::to_string(channels) + " -> " + std::to_string(dst_channels),
      std::to_string(images) + "x224x224", bytes, us);
}

void time_copy(Pool& pool, runtime::cuda::CudaStream& s) {
  pool.reset();
  constexpr std::size_t kBytes = 400 << 20;
  void* a[2] = {pool.random(kBytes, 1), pool.random(kBytes, 2)};
  void* b[2] = {pool.take(kBytes), pool.take(kBytes)};
  const double own = time_us(s, 2.0 * kBytes, 2, [&](int i) {
    copy_kernel<<<static_cast<unsigned>(kBytes / 16 / 1024), 256, 0, s.launch_handle()>>>(
        static_cast<float4*>(a[i]), static_cast<float4*>(b[i]), kBytes / 16);
  });
  const double runtime_us = time_us(s, 2.0 * kBytes, 2, [&](int i) {
    check(cudaMemcpyAsync(b[i], a[i], kBytes, cudaMemcpyDeviceToDevice, s.launch_handle()), "copy");
  });
  copy_gb_s = 2.0 * kBytes / std::min(own, runtime_us) / 1e3;
  row("copy, own kernel", "419 MB", 2.0 * kBytes, own);
  row("copy, cudaMemcpyAsync", "419 MB", 2.0 * kBytes, runtime_us);
}

/// A kind of batch norm in a network: its shape at batch 1, and how often it occurs.
struct Layer {
  int side, channels, inner, tail;
};

void time_network(Pool& pool, runtime::cuda::CudaStream& s, const char* name, const std::vector<Layer>& layers,
                  int batch, bool parts) {
  std::printf("\n%s, batch %d\n", name, batch);
  double sum = 0, floor = 0;
  for (const Layer& l : layers) {
    const NormTimes t = time_norm(pool, s, static_cast<std::int64_t>(batch) * l.side * l.side, l.channels, parts);
    sum += l.inner * (t.forward + t.backward) + l.tail * (t.tail_forward + t.tail_backward);
    floor += l.inner * t.floor_us + l.tail * t.tail_floor_us;
  }
  std::printf("SUM of these norms, %s batch %d: %.3f ms; by bytes at copy speed %.3f ms: %.1f%%\n", name, batch,
              sum / 1e3, floor / 1e3, 100 * floor / sum);
}

}  // namespace
}  // namespace roentgen::engine::cuda

int main() {
  using namespace roentgen;
  using namespace roentgen::engine::cuda;
  try {
    const auto inventory = runtime::find_cuda_devices();
    const auto device = runtime::make_cuda_device(0);
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0), "properties");
    multiprocessors = properties.multiProcessorCount;
    int driver = 0;
    check(cudaDriverGetVersion(&driver), "driver");
    std::printf("%s, %d multiprocessors, L2 %d MB, CUDA driver %d\n", properties.name, multiprocessors,
                properties.l2CacheSize >> 20, driver);
    const auto stream = device->make_stream();
    runtime::cuda::CudaStream& s = runtime::cuda::as_cuda(*stream);
    Pool pool(std::size_t{20} << 30);
    time_copy(pool, s);
    // Inner batch norms have only a ReLU. The last one of a block also has a residual, and two gradients in backward.
    const std::vector<Layer> resnet{{56, 64, 6, 0},  {56, 256, 0, 4}, {56, 128, 1, 0},  {28, 128, 7, 0},
                                    {28, 512, 0, 5}, {28, 256, 1, 0}, {14, 256, 11, 0}, {14, 1024, 0, 7},
                                    {14, 512, 1, 0}, {7, 512, 5, 0},  {7, 2048, 0, 4}};
    time_network(pool, s, "ResNet-50", resnet, 256, true);
    time_network(pool, s, "ResNet-50", resnet, 64, false);
    // Batch norms of the bottlenecks; time_blocks() times those of segments.
    time_network(pool, s, "DenseNet-121", {{56, 128, 6, 0}, {28, 128, 12, 0}, {14, 128, 24, 0}, {7, 128, 16, 0}}, 256,
                 false);
    for (const int images : {256, 64}) time_pool(pool, s, images);
    for (const int batch : {256, 64}) time_blocks(pool, s, batch);
    for (const auto& [side, channels] : std::vector<std::pair<int, int>>{{224, 64}, {56, 256}, {14, 512}})
      time_relu_bias(pool, s, side, channels);
    time_update(*device, pool, s, "sgd", engine::Sgd{}, 25557032, 161);
    time_update(*device, pool, s, "adam", engine::Adam{}, 25557032, 161);
    time_update(*device, pool, s, "average", engine::Average{}, 25557032, 161);
    time_update(*device, pool, s, "sgd", engine::Sgd{}, 7978856, 364);
    for (const auto& [channels, dst] : std::vector<std::pair<int, int>>{{1, 4}, {1, 8}, {3, 4}})
      time_normalise(*device, s, 256, channels, dst);
    check(cudaDeviceSynchronize(), "end");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
