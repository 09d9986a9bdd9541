// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Helpers of the kernel benchmarks: device memory, the time of a call, and a row of the result table. For .cu files.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "engine/cuda/norm/norm.h"
#include "engine/update/update_list.h"
#include "runtime/cuda/check.h"
#include "runtime/cuda/stream.h"

namespace roentgen::engine::cuda {
namespace {
using runtime::cuda::check;

constexpr int kReplays = 51;
// Bytes that the rotating buffers cover at least: eight times the L2 cache of an H100
constexpr double kRotation = 400e6;
int multiprocessors = 132;

__global__ void copy_kernel(const float4* __restrict__ src, float4* __restrict__ dst, std::int64_t count) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x * 4 + threadIdx.x;
  float4 value[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (first + i * blockDim.x < count) value[i] = src[first + i * blockDim.x];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (first + i * blockDim.x < count) dst[first + i * blockDim.x] = value[i];
}
// Fills memory with bf16 values of about -2 to 2, two per word.
__global__ void fill_kernel(unsigned* dst, std::int64_t count, unsigned seed) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned h = static_cast<unsigned>(i) * 2654435761U + seed;
  h ^= h >> 16, h *= 0x85ebca6bU, h ^= h >> 13, h *= 0xc2b2ae35U, h ^= h >> 16;
  const float a = static_cast<float>(h & 0xFFFF) / 16384.0F - 2.0F, b = static_cast<float>(h >> 16) / 16384.0F - 2.0F;
  dst[i] = (__float_as_uint(b) & 0xFFFF0000U) | __float_as_uint(a) >> 16;
}

/// Allocates device memory in pieces and frees all of it at once.
class Pool {
 public:
  explicit Pool(std::size_t bytes) : bytes_(bytes) { check(cudaMalloc(&base_, bytes), "memory of the bench"); }
  ~Pool() { cudaFree(base_); }
  void reset() { used_ = 0; }
  template <typename T = void>
  T* take(std::size_t bytes) {
    std::byte* p = static_cast<std::byte*>(base_) + used_;
    used_ += (bytes + 1023) / 1024 * 1024;
    if (used_ > bytes_) std::fprintf(stderr, "bench: memory too small\n"), std::exit(1);
    return static_cast<T*>(static_cast<void*>(p));
  }
  void* random(std::size_t bytes, unsigned seed) {
    void* p = take(bytes);
    const auto words = static_cast<std::int64_t>(bytes / 4);
    fill_kernel<<<static_cast<unsigned>((words + 255) / 256), 256>>>(static_cast<unsigned*>(p), words, seed);
    return p;
  }
  float* floats(std::size_t count, float value) {
    auto* p = take<float>(count * 4);
    const std::vector<float> host(count, value);
    check(cudaMemcpy(p, host.data(), count * 4, cudaMemcpyHostToDevice), "fill");
    return p;
  }
  unsigned* zeros(std::size_t count) {
    auto* p = take<unsigned>(count * 4);
    check(cudaMemset(p, 0, count * 4), "zero");
    return p;
  }

 private:
  void* base_ = nullptr;
  std::size_t bytes_, used_ = 0;
};

/// Median time of one call in microseconds. `work(i)` queues call number i; calls with equal i % rotations use the same
/// memory.
double time_us(runtime::cuda::CudaStream& stream, double bytes, int rotations, const std::function<void(int)>& work) {
  const double estimate_us = std::max(bytes / 2.5e6, 2.0);
  const int calls = std::clamp(static_cast<int>(1500 / estimate_us) + 1, rotations, 300) / rotations * rotations;
  cudaStream_t s = stream.launch_handle();
  cudaGraph_t graph{};
  cudaGraphExec_t exec{};
  check(cudaDeviceSynchronize(), "before a capture");
  check(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), "capture");
  for (int i = 0; i < calls; ++i) work(i % rotations);
  check(cudaStreamEndCapture(s, &graph), "capture");
  check(cudaGraphInstantiate(&exec, graph, 0), "graph");
  cudaEvent_t begin{}, end{};
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  std::vector<float> times;
  for (int i = 0; i < kReplays + 3; ++i) {
    check(cudaEventRecord(begin, s), "event");
    check(cudaGraphLaunch(exec, s), "replay");
    check(cudaEventRecord(end, s), "event");
    check(cudaEventSynchronize(end), "replay");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "time");
    if (i >= 3) times.push_back(ms);
  }
  check(cudaGraphExecDestroy(exec), "graph");
  check(cudaGraphDestroy(graph), "graph");
  check(cudaEventDestroy(begin), "event");
  check(cudaEventDestroy(end), "event");
  std::nth_element(times.begin(), times.begin() + kReplays / 2, times.end());
  return times[kReplays / 2] * 1e3 / calls;
}

double copy_gb_s = 1.0;  // throughput of a copy, bytes read plus bytes written

void row(const std::string& kernel, const std::string& shape, double bytes, double us) {
  const double gb_s = bytes / us / 1e3;
  std::printf("%-26s %-16s %8.1f MB %9.2f us %7.0f GB/s %6.1f%%\n", kernel.c_str(), shape.c_str(), bytes / 1e6, us,
              gb_s, 100 * gb_s / copy_gb_s);
  std::fflush(stdout);
}

}  // namespace
}  // namespace roentgen::engine::cuda
