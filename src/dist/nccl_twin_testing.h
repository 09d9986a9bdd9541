// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// NcclTwin, for tests: NcclCalls on devices that are emulated on the host. Its ranks, threads or processes of one host,
// meet in shared memory. Sums are made in float32 in the order of ranks, as `exchange` makes them.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "dist/nccl_calls.h"
#include "runtime/twin_device_testing.h"

namespace roentgen::dist {

/// Memory that the ranks of a group share. Each rank has one; thread-safe.
class NcclTwinRoom {
 public:
  static constexpr int kMostRanks = 8;
  /// Bytes of one rank's numbers; pages that nobody writes take no memory.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

  /// A name for a new room.
  static NcclId make_id() {
    NcclId id{};
    const std::string name =
        "/roentgen-nccl-" + std::to_string(::getpid()) + "-" + std::to_string(std::random_device()());
    std::memcpy(id.data(), name.c_str(), name.size());
    return id;
  }
  /// Enters the room, or makes it.
  NcclTwinRoom(const NcclId& id, int rank, int size)
      : name_(reinterpret_cast<const char*>(id.data())), rank_(rank), size_(size) {
    RG_ASSERT(size <= kMostRanks);
    const int file = ::shm_open(name_.c_str(), O_CREAT | O_RDWR, 0600);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes())) != 0)
      throw CommError("[dist.twin] no shared memory");
    memory_ = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (memory_ == MAP_FAILED) throw CommError("[dist.twin] no shared memory");
    board().joined.fetch_add(1);
  }
  NcclTwinRoom(const NcclTwinRoom&) = delete;
  NcclTwinRoom& operator=(const NcclTwinRoom&) = delete;
  ~NcclTwinRoom() {
    ::munmap(memory_, bytes());
    ::shm_unlink(name_.c_str());
  }
  /// All ranks are here. Then the name goes, so that nothing is left of processes that are killed.
  [[nodiscard]] bool is_complete() const {
    const bool is_now = board().joined.load() == size_;
    if (is_now && rank_ == 0) ::shm_unlink(name_.c_str());
    return is_now;
  }
  void abort() { is_aborted_ = true; }

  /// Tries to make the mean number `call`, from 0. True once `data` has it, or after abort().
  /// @param is_given kept between tries, false at first
  bool try_mean(std::int64_t call, std::span<float> data, bool& is_given) {
    if (is_aborted_) return true;
    if (data.size_bytes() > kMostBytes) throw DeviceError("[dist.twin] a bucket that is too large");
    if (!is_given) {
      if (!have_all(board().taken, call)) return false;  // somebody still reads the last one
      std::memcpy(slot(rank_), data.data(), data.size_bytes());
      board().given[static_cast<std::size_t>(rank_)].store(call + 1);
      is_given = true;
    }
    if (!have_all(board().given, call + 1)) return false;
    const float factor = 1.0F / static_cast<float>(size_);
    for (std::size_t i = 0; i < data.size(); ++i) {
      float sum = slot(0)[i];
      for (int rank = 1; rank < size_; ++rank) sum += slot(rank)[i];
      data[i] = sum * factor;
    }
    board().taken[static_cast<std::size_t>(rank_)].store(call + 1);
    return true;
  }

 private:
  using Counters = std::array<std::atomic<std::int64_t>, kMostRanks>;
  struct Board {
    std::atomic<int> joined;
    /// Means that each rank has given its numbers for, and has taken.
    Counters given, taken;
  };
  static constexpr std::size_t kBoardBytes = 4096;

  [[nodiscard]] std::size_t bytes() const { return kBoardBytes + kMostBytes * static_cast<std::size_t>(size_); }
  [[nodiscard]] Board& board() const { return *static_cast<Board*>(memory_); }
  [[nodiscard]] float* slot(int rank) const {
    return reinterpret_cast<float*>(static_cast<std::byte*>(memory_) + kBoardBytes +
                                    kMostBytes * static_cast<std::size_t>(rank));
  }
  [[nodiscard]] bool have_all(const Counters& counters, std::int64_t least) const {
    return std::all_of(counters.begin(), counters.begin() + size_,
                       [&](const auto& each) { return each.load() >= least; });
  }

  const std::string name_;
  const int rank_, size_;
  std::atomic<bool> is_aborted_ = false;
  void* memory_ = nullptr;
};

/// How work of the twin comes to a device.
struct NcclTwinDevice {
  /// Queues work on a stream, to be called until it returns true.
  std::function<void(runtime::Stream&, std::function<bool()>)> queue;
  /// Numbers that a span of the device stands for.
  std::function<std::span<float>(runtime::DeviceSpan<float>)> behind;
};

/// Work of a runtime::TwinDevice, whose streams are threads.
inline NcclTwinDevice twin_device() {
  return {
      .queue =
          [](runtime::Stream& stream, std::function<bool()> work) {
            dynamic_cast<runtime::TwinStream&>(stream).run([work = std::move(work)] {
              while (!work()) std::this_thread::yield();
            });
          },
      .behind =
          [](runtime::DeviceSpan<float> span) { return static_cast<runtime::TwinMemory*>(span.copies)->behind(span); }};
}

/// What a test makes go wrong.
struct NcclTwinFaults {
  /// Mean, from 0, after whose start the group fails; negative: none.
  std::atomic<std::int64_t> failing = -1;
};

/// One rank's end. Each call is over at the second look, as one of NCCL's that waits for connections.
class NcclTwin final : public NcclCalls {
 public:
  /// @param faults null: none; must outlive this
  explicit NcclTwin(NcclTwinDevice device, const NcclTwinFaults* faults = nullptr)
      : device_(std::move(device)), faults_(faults) {}
  NcclTwin(const NcclTwin&) = delete;
  NcclTwin& operator=(const NcclTwin&) = delete;
  ~NcclTwin() override {
    if (!is_ending_) abort();
  }
  [[nodiscard]] std::string_view version() const override { return "NCCL twin"; }
  [[nodiscard]] NcclId make_id() override { return NcclTwinRoom::make_id(); }
  void join(const NcclId& id, int rank, int size, runtime::Stream& /*stream*/) override {
    room_ = std::make_shared<NcclTwinRoom>(id, rank, size);
    is_looked_at_ = false;
  }
  [[nodiscard]] bool is_idle() override {
    if (faults_ != nullptr && faults_->failing >= 0 && calls_ > faults_->failing) {
      throw CommError("remote process exited");
    }
    return std::exchange(is_looked_at_, true) && room_->is_complete();
  }
  void all_reduce_mean(runtime::DeviceSpan<float> data, runtime::Stream& stream) override {
    is_looked_at_ = false;
    device_.queue(stream, [room = room_, behind = device_.behind, data, call = calls_++, is_given = false]() mutable {
      return room->try_mean(call, behind(data), is_given);
    });
  }
  void end() override { is_ending_ = true; }
  void abort() noexcept override {
    if (room_ != nullptr) room_->abort();
  }

 private:
  const NcclTwinDevice device_;
  const NcclTwinFaults* faults_;
  std::shared_ptr<NcclTwinRoom> room_;
  std::int64_t calls_ = 0;
  bool is_looked_at_ = true;
  bool is_ending_ = false;
};

}  // namespace roentgen::dist
