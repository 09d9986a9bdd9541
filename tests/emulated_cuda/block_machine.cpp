// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "tests/emulated_cuda/block_machine.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "core/error.h"

namespace roentgen::emulated {
namespace {
constexpr unsigned kMostThreads = 1024, kWarp = 32;
// ThreadSanitizer supports 8,128 threads at a time.
constexpr std::uint64_t kMostSanitized = 8000;  // of its threads

thread_local BlockMachine* machine = nullptr;
void enter_fibre() { machine->run_fibre(); }

BlockMachine& the_machine() {
  static thread_local BlockMachine owner;
  machine = &owner;
  return owner;
}

bool same_place(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() && std::string_view(a.file_name()) == b.file_name();
}
std::string text_of(const Dim3& index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z) + ")";
}
std::string text_of(const std::source_location& at) {
  const std::string_view file = at.file_name();
  return std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(at.line());
}
Dim3 index_of(std::uint64_t i, const Dim3& extent) {
  return {static_cast<unsigned>(i % extent.x), static_cast<unsigned>(i / extent.x % extent.y),
          static_cast<unsigned>(i / extent.x / extent.y)};
}
}  // namespace

constinit thread_local Lane* current = nullptr;

void run(const Launch& launch) { the_machine().run(launch); }
void meet_at_barrier(std::source_location at) { machine->meet_at_barrier(at); }
std::uint64_t meet_in_warp(WarpOperation operation, unsigned mask, std::uint64_t bits, unsigned source,
                           std::source_location at) {
  return machine->meet_in_warp(operation, mask, bits, source, at);
}
void* shared_array(const void* key, std::size_t bytes, std::source_location at) {
  return machine->shared_array(key, bytes, at);
}
void fail(std::string_view text, std::source_location at) { machine->fail(text, at); }

BlockMachine::BlockMachine() : threads_(kMostThreads), warps_(kMostThreads / kWarp) {
  home_.fibre = std::make_unique<Fibre>();
}

void BlockMachine::run(const Launch& launch) {
  const std::uint64_t threads = launch.threads.volume(), blocks = launch.blocks.volume();
  if (threads == 0 || threads > kMostThreads || launch.threads.z > 64 || blocks == 0 || launch.blocks.x >> 31 != 0 ||
      launch.blocks.y > 65535 || launch.blocks.z > 65535) {
    throw DeviceError(error_text("emulated.cuda", launch.name, "a grid that a device can launch",
                                 text_of(launch.blocks) + " blocks of " + text_of(launch.threads) + " threads"));
  }
  if (sanitizer::has_threads && threads * blocks > kMostSanitized) {
    throw DeviceError(error_text("emulated.cuda", launch.name,
                                 std::to_string(kMostSanitized) + " threads or fewer here",
                                 std::to_string(threads * blocks)));
  }
  launch_ = &launch;
  random_ = launch.seed * 0x9E3779B97F4A7C15U + 1;
  home_.sanitizer_thread = sanitizer::this_thread();
  // Creates all sanitizer threads on the calling thread. A thread created by another one would be ordered after it.
  while (sanitizer::has_threads && contexts_.size() < threads * blocks) contexts_.push_back(make_context());
  std::vector<std::uint64_t> order(blocks);
  std::iota(order.begin(), order.end(), 0U);
  if (launch.order == Order::Backward) std::ranges::reverse(order);
  if (launch.order == Order::Random) {
    for (std::uint64_t i = blocks - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
  }
  for (const std::uint64_t block : order) run_block(launch, block);
  sanitizer::acquire(&end_);
}

void BlockMachine::run_block(const Launch& launch, std::uint64_t block) {
  block_ = block;
  shared_.begin_block();
  sanitizer::release(&begin_);
  begin_threads(launch, block);
  running_ = &home_;
  Thread* const first = next_thread();
  give_context(*first);
  switch_to(first);
  current = nullptr;
  if (error_.empty() && !shared_.is_intact()) error_ = describe("a write past an array in shared memory", threads_[0]);
  if (error_.empty()) return;
  sanitizer::acquire(&end_);
  // The other fibres are in the middle of a kernel, so they are destroyed; later launches create new ones.
  contexts_.clear();
  idle_.clear();
  throw DeviceError(std::exchange(error_, {}));
}

void BlockMachine::begin_threads(const Launch& launch, std::uint64_t block) {
  const auto count = static_cast<unsigned>(launch.threads.volume());
  threads_.resize(count);
  warps_.assign((count + kWarp - 1) / kWarp, {});
  for (unsigned w = 0; w < warps_.size(); ++w) {
    const unsigned lanes = std::min(count - w * kWarp, kWarp);
    warps_[w].members = warps_[w].ready = lanes == kWarp ? ~0U : (1U << lanes) - 1;
  }
  const Dim3 place = index_of(block, launch.blocks);
  for (unsigned i = 0; i < count; ++i) {
    Thread& thread = threads_[i];
    thread = {};
    thread.thread = index_of(i, launch.threads);
    thread.block = place;
    thread.threads = &launch.threads;
    thread.blocks = &launch.blocks;
    thread.number = i;
  }
  ended_ = at_barrier_ = 0;
  warp_ = launch.order == Order::Backward ? static_cast<unsigned>(warps_.size()) - 1 : 0;
}

std::uint64_t BlockMachine::random() {
  random_ ^= random_ << 13, random_ ^= random_ >> 7, random_ ^= random_ << 17;
  return random_ >> 8;
}

unsigned BlockMachine::choose_lane(unsigned ready) {
  if (launch_->order == Order::Forward) return static_cast<unsigned>(std::countr_zero(ready));
  if (launch_->order == Order::Backward) return kWarp - 1 - static_cast<unsigned>(std::countl_zero(ready));
  const auto turn = static_cast<int>(random() % kWarp);
  return (static_cast<unsigned>(std::countr_zero(std::rotr(ready, turn))) + static_cast<unsigned>(turn)) % kWarp;
}

BlockMachine::Thread* BlockMachine::next_thread() {
  const auto count = static_cast<unsigned>(warps_.size());
  if (launch_->order == Order::Random && random() % 8 == 0) warp_ = static_cast<unsigned>(random() % count);
  const unsigned step = launch_->order == Order::Backward ? count - 1 : 1;
  for (unsigned i = 0; i < count; ++i, warp_ = (warp_ + step) % count) {
    if (warps_[warp_].ready != 0) return &threads_[warp_ * kWarp + choose_lane(warps_[warp_].ready)];
  }
  return nullptr;
}

std::unique_ptr<BlockMachine::Context> BlockMachine::make_context() {
  return std::make_unique<Context>(Context{std::make_unique<Fibre>(&enter_fibre), sanitizer::make_thread(), {}});
}

void BlockMachine::give_context(Thread& thread) {
  if (sanitizer::has_threads) {
    thread.context = contexts_[block_ * threads_.size() + thread.number].get();
    return;
  }
  if (idle_.empty()) {
    contexts_.push_back(make_context());
    idle_.push_back(contexts_.back().get());
  }
  thread.context = idle_.back();
  idle_.pop_back();
}

void BlockMachine::switch_to(Thread* next) {
  Context& from = *running_;
  Context& to = next != nullptr ? *next->context : home_;
  current = next;
  running_ = &to;
  sanitizer::before_switch(from.left, *to.fibre, to.sanitizer_thread);
  Fibre::switch_to(*from.fibre, *to.fibre);
  sanitizer::after_switch(&from.left);
}

void BlockMachine::wait() {
  Thread* const next = next_thread();
  if (next == nullptr) fail("all threads wait, and none can go on", self().at);
  if (next->context == nullptr) give_context(*next);
  switch_to(next);
}

void BlockMachine::run_fibre() {
  sanitizer::after_switch(nullptr);
  for (;;) {
    Thread& thread = self();
    thread.state = State::Ready;
    sanitizer::acquire(&begin_);
    launch_->body();
    sanitizer::release(&end_);
    end_thread(thread);
    Thread* const next = next_thread();
    if (next == nullptr && ended_ != threads_.size()) fail("all threads wait, and none can go on", thread.at);
    const bool is_new = next != nullptr && next->context == nullptr;
    if (is_new && !sanitizer::has_threads) {
      next->context = running_;
      current = next;
      continue;
    }
    if (!sanitizer::has_threads) idle_.push_back(running_);
    if (is_new) give_context(*next);
    switch_to(next);
  }
}

void BlockMachine::end_thread(Thread& thread) {
  Warp& warp = warp_of(thread);
  const unsigned lane = 1U << thread.number % kWarp;
  thread.state = State::Ended;
  thread.context = nullptr;
  warp.ready &= ~lane;
  warp.ended |= lane;
  ++ended_;
  if (at_barrier_ != 0) fail("a thread ended while others wait at a barrier", barrier_);
  for (unsigned left = warp.waiting; left != 0; left &= left - 1) {
    const Thread& waiting = threads_[thread.number / kWarp * kWarp + static_cast<unsigned>(std::countr_zero(left))];
    if ((waiting.mask & lane) != 0) fail("a thread ended while lanes wait for it in a warp operation", waiting.at);
  }
}

void BlockMachine::meet_at_barrier(std::source_location at) {
  Thread& me = self();
  Warp& warp = warp_of(me);
  me.at = at;
  if (ended_ != 0) fail("a barrier after some threads ended", at);
  if (at_barrier_ == 0) barrier_ = at;
  if (!same_place(at, barrier_)) fail("threads at different barriers", at, &barrier_);
  if (warp.waiting != 0) fail("a barrier while lanes of the warp wait in a warp operation", at);
  char& sync = syncs_[generation_ % 2];
  sanitizer::release(&sync);
  if (++at_barrier_ < threads_.size()) {
    me.state = State::AtBarrier;
    warp.ready &= ~(1U << me.number % kWarp);
    wait();
  } else {
    for (Warp& each : warps_) each.ready = each.members;
    for (Thread& each : threads_) each.state = State::Ready;
    at_barrier_ = 0;
    ++generation_;
  }
  sanitizer::acquire(&sync);
}

void BlockMachine::check_meeting(const Thread& thread, const Warp& warp) {
  if ((thread.mask >> thread.number % kWarp & 1) == 0) fail("a lane outside of its own mask", thread.at);
  if ((thread.mask & ~warp.members) != 0) fail("a mask with lanes that the block does not have", thread.at);
  if ((thread.mask & warp.ended) != 0) fail("a mask with lanes that ended", thread.at);
}

std::uint64_t BlockMachine::meet_in_warp(WarpOperation operation, unsigned mask, std::uint64_t bits, unsigned source,
                                         std::source_location at) {
  Thread& me = self();
  Warp& warp = warp_of(me);
  me.operation = operation, me.mask = mask, me.bits = bits, me.source = source, me.at = at;
  check_meeting(me, warp);
  me.state = State::InWarp;
  warp.ready &= ~(1U << me.number % kWarp);
  warp.waiting |= 1U << me.number % kWarp;
  if (operation == WarpOperation::Sync) sanitizer::release(&warp.sync);
  if (!release_lanes(me, warp)) wait();
  if (operation == WarpOperation::Sync) sanitizer::acquire(&warp.sync);
  return me.result;
}

// Gives every lane of the mask its result at once, so that a fast lane cannot overwrite inputs of the others.
bool BlockMachine::release_lanes(Thread& last, Warp& warp) {
  if ((warp.waiting & last.mask) != last.mask) return false;
  Thread* const lanes = &threads_[last.number / kWarp * kWarp];
  std::uint64_t ballot = 0;
  for (unsigned left = last.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    Thread& thread = lanes[lane];
    if (thread.mask != last.mask) fail("lanes of a warp with different masks", thread.at);
    if (thread.operation != last.operation || !same_place(thread.at, last.at)) {
      fail("lanes of a warp in different operations", thread.at, &last.at);
    }
    if (last.operation == WarpOperation::Shuffle) {
      if ((last.mask >> thread.source & 1) == 0) fail("a shuffle from a lane outside of the mask", thread.at);
      thread.result = lanes[thread.source].bits;
    }
    if (thread.bits != 0) ballot |= std::uint64_t{1} << lane;
    thread.state = State::Ready;
  }
  if (last.operation == WarpOperation::Ballot) {
    for (unsigned left = last.mask; left != 0; left &= left - 1) lanes[std::countr_zero(left)].result = ballot;
  }
  warp.waiting &= ~last.mask;
  warp.ready |= last.mask;
  return true;
}

void* BlockMachine::shared_array(const void* key, std::size_t bytes, std::source_location at) {
  void* const array = shared_.array(key, bytes);
  if (array == nullptr) fail("arrays of more than 48 KiB in shared memory", at);
  return array;
}

std::string BlockMachine::describe(std::string_view what, const Thread& thread) const {
  return "[emulated.cuda] " + std::string(launch_->name) + ", block " + text_of(thread.block) + ", thread " +
         text_of(thread.thread) + ": " + std::string(what);
}

void BlockMachine::keep_error(std::string_view what, const std::source_location& at,
                              const std::source_location* others) {
  std::string text(what);
  if (others != nullptr) text += ", others at " + text_of(*others);
  error_ = describe(text + ", at " + text_of(at), self());
  sanitizer::release(&end_);
}

// Destructors of this frame and its callers do not run, so none of them may own memory.
void BlockMachine::fail(std::string_view what, const std::source_location& at, const std::source_location* others) {
  keep_error(what, at, others);
  switch_to(nullptr);
  __builtin_unreachable();
}

}  // namespace roentgen::emulated
