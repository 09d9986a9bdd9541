// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Scratch memory of our kernels, in parts that are shared by all threads or private to each. A private part should
// still be in the thread's caches from the previous kernel. If another thread wrote its lines last, each line has to
// move between caches before it can be written (docs/design/engine_cpu.md). Internal to conv/products, conv/winograd
// and the planner.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cpu/conv/conv_tensors.h"
#include "engine/plan/kernel.h"

namespace roentgen::engine::cpu {

/// Returns count / each, rounded up.
[[nodiscard]] constexpr std::int64_t pieces_of(std::int64_t count, std::int64_t each) {
  return (count + each - 1) / each;
}
/// Returns `value` rounded up to a multiple of `unit`.
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return pieces_of(value, unit) * unit;
}

/// Placement of the threads' private memory. It begins at a multiple of `page_bytes`; threads are `stride_bytes` apart.
struct ThreadsMemory {
  std::size_t page_bytes = 0;
  std::size_t stride_bytes = 0;

  /// Placement for kernels that need at most `most` bytes per thread. Each thread gets separate huge pages, unless most
  /// of a page would be unused. When multiples of small pages were used instead, DenseNet-121's step took 3% longer
  /// with threads on two chips.
  [[nodiscard]] static ThreadsMemory of(std::size_t most) {
    constexpr std::size_t kPage_bytes = 4096, kHugePage_bytes = std::size_t{2} << 20;
    ThreadsMemory made{.page_bytes = most < kHugePage_bytes / 2 ? kPage_bytes : kHugePage_bytes};
    made.stride_bytes = made.pages(most);
    return made;
  }
  /// Returns `bytes` rounded up to whole pages.
  [[nodiscard]] std::size_t pages(std::size_t bytes) const {
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
  }
};

/// Scratch of one kernel. Parts are added while the kernel is constructed, and have addresses after bind().
/// Thread-compatible: threads may call at() at the same time; the kernel orders accesses to shared parts.
class KernelScratch {
 public:
  /// One part of the scratch: the same number of bytes for each owner. Begins at a multiple of 64 bytes.
  struct Part {
    std::int64_t at = 0;    ///< offset in the shared or private memory, in bytes
    std::int64_t each = 0;  ///< shared parts only: bytes from one owner to the next
    bool is_own = false;
  };

  explicit KernelScratch(int threads) : threads_(threads) {}
  /// Adds `bytes` bytes that all threads share.
  [[nodiscard]] Part add(std::int64_t bytes) { return add_shared(bytes, 1); }
  /// Adds `bytes` bytes that are private to each thread. Owner i is thread i.
  [[nodiscard]] Part add_own(std::int64_t bytes) {
    const Part part{.at = own_, .is_own = true};
    own_ += round_up(bytes, kLine);
    return part;
  }
  /// Adds `bytes` bytes for each of `crews` sub-teams of equal size. The memory is private if each sub-team is a single
  /// thread.
  [[nodiscard]] Part add_of_crews(std::int64_t bytes, int crews) {
    return crews == threads_ ? add_own(bytes) : add_shared(bytes, crews);
  }
  /// Adds `bytes` bytes for each of `owners` owners, in memory that all threads share.
  [[nodiscard]] Part add_shared(std::int64_t bytes, std::int64_t owners) {
    const Part part{.at = shared_, .each = round_up(bytes, kLine)};
    shared_ += owners * part.each;
    return part;
  }
  [[nodiscard]] ScratchBytes bytes() const {
    return {.shared = static_cast<std::size_t>(shared_), .own = static_cast<std::size_t>(own_)};
  }

  void bind(const Addresses& addresses, const ConvTensors& tensors) {
    shared_at_ = addresses.bytes(tensors.scratch);
    own_at_ = tensors.own_scratch >= 0 ? addresses.replicas(tensors.own_scratch)
                                       : Addresses::Replicas{shared_at_ + shared_, own_};
    // The memory of each thread must fit its stride, or a thread would write into the memory of the next thread.
    RG_ASSERT(own_ == 0 || threads_ == 1 || (own_at_.stride >= own_ && own_at_.stride % kLine == 0));
  }
  /// Address of a part of the scratch memory that belongs to one owner, such as a thread. Owners are counted from 0.
  template <class T = std::byte>
  [[nodiscard]] T* at(const Part& part, std::int64_t owner = 0) const {
    std::byte* const from = part.is_own ? own_at_.first + owner * own_at_.stride : shared_at_ + owner * part.each;
    return reinterpret_cast<T*>(from + part.at);
  }

 private:
  static constexpr std::int64_t kLine = 64;
  int threads_;
  std::int64_t shared_ = 0, own_ = 0;
  std::byte* shared_at_ = nullptr;
  Addresses::Replicas own_at_;
};

/// Base class of our convolution kernels: one pass with its scratch.
class ConvKernel : public Kernel {
 public:
  explicit ConvKernel(int threads) : memory_(threads) {}
  /// Bytes of scratch. They depend on the tensors only by whether the input is normalised. Valid before bind().
  [[nodiscard]] ScratchBytes scratch_bytes() const { return memory_.bytes(); }

 protected:
  KernelScratch memory_;
};

}  // namespace roentgen::engine::cpu
