// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// NcclTwin: imitates NCCL on devices that are emulated on the host, for tests. Its ranks, threads or processes of one
// host, exchange values in shared memory. It sums in f32 in the order of ranks, as the reduce algorithm `exchange`
// does.
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

/// Shared memory through which the ranks of a group exchange values. Each rank has its own object. Thread-safe.
class NcclTwinRoom {
 public:
  static constexpr int kMostRanks = 8;
  /// Largest size in bytes of one rank's values; pages that are never written use no memory.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

  /// Makes the identifier of a new group.
  static NcclId make_id() {
    NcclId id{};
    const std::string name =
        "/roentgen-nccl-" + std::to_string(::getpid()) + "-" + std::to_string(std::random_device()());
    std::memcpy(id.data(), name.c_str(), name.size());
    return id;
  }
  /// Opens the shared memory, or creates it if this is the first rank.
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
  /// True once all ranks have opened the memory. Its name is then removed, so that killed processes leave nothing
  /// behind.
  [[nodiscard]] bool is_complete() const {
    const bool is_now = board().joined.load() == size_;
    if (is_now && rank_ == 0) ::shm_unlink(name_.c_str());
    return is_now;
  }
  void abort() { is_aborted_ = true; }

  /// Tries to compute the mean with number `call`, counted from 0. Returns true once `data` holds it, or after abort().
  /// @param is_given state that the caller keeps between tries; false at first
  bool try_mean(std::int64_t call, std::span<float> data, bool& is_given) {
    if (is_aborted_) return true;
    if (data.size_bytes() > kMostBytes) throw DeviceError("[dist.twin] a bucket that is too large");
    if (!is_given) {
      if (!have_all(board().taken, call)) return false;  // another rank still reads the previous values
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
    /// For each rank, the number of means it has written its values for, and the number it has read.
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

/// Functions by which NcclTwin runs work on an emulated device.
struct NcclTwinDevice {
  /// Queues a function on a stream, which calls it until it returns true.
  std::function<void(runtime::Stream&, std::function<bool()>)> queue;
  /// Returns the host memory that holds the values of a device span.
  std::function<std::span<float>(runtime::DeviceSpan<float>)> behind;
};

/// Returns the functions for a runtime::TwinDevice, whose streams are threads.
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

/// Faults that a test can cause.
struct NcclTwinFaults {
  /// Number of the mean, from 0, after whose start the group fails; negative: none.
  std::atomic<std::int64_t> failing = -1;
};

/// NcclCalls of one rank. Each call is complete at the second is_idle(), like NCCL calls that wait for connections.
class NcclTwin final : public NcclCalls {
 public:
  /// @param faults faults to cause; null: none; must outlive this object
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
