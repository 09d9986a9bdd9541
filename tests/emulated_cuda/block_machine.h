// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// BlockMachine: runs the threads of one block as fibres. It implements block.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/emulated_cuda/block.h"
#include "tests/emulated_cuda/sanitizer.h"
#include "tests/emulated_cuda/shared_memory.h"

namespace roentgen::emulated {

/// Runs one block at a time on the calling thread. A CUDA thread runs until it waits or ends. Threads that never wait
/// share one fibre, so that they need no switch.
class BlockMachine {
 public:
  BlockMachine();
  /// Runs all blocks of a launch. Throws DeviceError at the first error.
  void run(const Launch& launch);
  /// Implement the functions of the same names in block.h for the running thread.
  void meet_at_barrier(std::source_location at);
  std::uint64_t meet_in_warp(WarpOperation operation, unsigned mask, std::uint64_t bits, unsigned source,
                             std::source_location at);
  void* shared_array(const void* key, std::size_t bytes, std::source_location at);
  [[noreturn]] void fail(std::string_view what, const std::source_location& at,
                         const std::source_location* others = nullptr);
  /// Runs threads in the current fibre, one after the other.
  [[noreturn]] void run_fibre();

 private:
  enum class State : unsigned char { New, Ready, AtBarrier, InWarp, Ended };
  /// A fibre, and the sanitizer's thread for it.
  struct Context {
    std::unique_ptr<Fibre> fibre;
    void* sanitizer_thread = nullptr;
    sanitizer::LeftStack left;
  };
  struct Thread : Lane {
    State state = State::New;
    WarpOperation operation = WarpOperation::Sync;
    unsigned mask = 0, source = 0;
    std::uint64_t bits = 0, result = 0;
    std::source_location at;
    Context* context = nullptr;
  };
  /// State of a warp: bit masks of its lanes.
  struct Warp {
    unsigned members = 0, ready = 0, waiting = 0, ended = 0;
    char sync = 0;  // address for release() and acquire()
  };

  void run_block(const Launch& launch, std::uint64_t block);
  void begin_threads(const Launch& launch, std::uint64_t block);
  [[nodiscard]] Thread& self() { return *static_cast<Thread*>(current); }
  [[nodiscard]] Warp& warp_of(const Thread& thread) { return warps_[thread.number / 32]; }
  [[nodiscard]] unsigned choose_lane(unsigned ready);
  [[nodiscard]] std::uint64_t random();
  /// Returns the thread to run next; null if none can run.
  [[nodiscard]] Thread* next_thread();
  [[nodiscard]] static std::unique_ptr<Context> make_context();
  void give_context(Thread& thread);
  /// Continues in `next`, or in run_block() if `next` is null.
  void switch_to(Thread* next);
  void wait();
  void check_meeting(const Thread& thread, const Warp& warp);
  [[nodiscard]] bool release_lanes(Thread& last, Warp& warp);
  void end_thread(Thread& thread);
  void keep_error(std::string_view what, const std::source_location& at, const std::source_location* others);
  [[nodiscard]] std::string describe(std::string_view what, const Thread& thread) const;

  const Launch* launch_ = nullptr;
  std::uint64_t block_ = 0;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  unsigned ended_ = 0, at_barrier_ = 0, generation_ = 0, warp_ = 0;
  std::source_location barrier_;
  char syncs_[2] = {};  // addresses for release() and acquire(), used by barriers in turn
  char begin_ = 0, end_ = 0;
  SharedMemory shared_;
  Context home_;
  Context* running_ = nullptr;
  std::vector<std::unique_ptr<Context>> contexts_;
  std::vector<Context*> idle_;
  std::uint64_t random_ = 1;
  std::string error_;
};

}  // namespace roentgen::emulated
