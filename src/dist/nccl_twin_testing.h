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
    const auto give = [&](std::byte* slot) { std::memcpy(slot, data.data(), data.size_bytes()); };
    const auto take = [&] {
      const auto values = [&](int rank) { return reinterpret_cast<const float*>(slot(rank)); };
      const float factor = 1.0F / static_cast<float>(size_);
      for (std::size_t i = 0; i < data.size(); ++i) {
        float sum = values(0)[i];
        for (int rank = 1; rank < size_; ++rank) sum += values(rank)[i];
        data[i] = sum * factor;
      }
    };
    return try_call(call, data.size_bytes(), is_given, {give, take});
  }

  /// Message to or from a rank.
  struct Letter {
    int rank = 0;
    std::span<std::byte> bytes;
  };
  /// Tries to exchange messages as call `call`; otherwise like try_mean().
  bool try_exchange(std::int64_t call, std::span<const Letter> sends, std::span<const Letter> receives,
                    bool& is_given) {
    // A slot begins with the offset of the first message to each rank.
    std::size_t room = sizeof(Offsets);
    for (const Letter& each : sends) room += each.bytes.size();
    const auto give = [&](std::byte* slot) {
      Offsets offsets{};
      std::size_t end = sizeof offsets;
      for (int rank = 0; rank < size_; ++rank) {
        offsets[static_cast<std::size_t>(rank)] = end;
        for (const Letter& each : sends) {
          if (each.rank != rank) continue;
          std::memcpy(slot + end, each.bytes.data(), each.bytes.size());
          end += each.bytes.size();
        }
      }
      std::memcpy(slot, &offsets, sizeof offsets);
    };
    const auto take = [&] {
      Offsets next{};  // by sender
      for (int rank = 0; rank < size_; ++rank) {
        Offsets theirs;
        std::memcpy(&theirs, slot(rank), sizeof theirs);
        next[static_cast<std::size_t>(rank)] = theirs[static_cast<std::size_t>(rank_)];
      }
      for (const Letter& each : receives) {
        std::size_t& at = next[static_cast<std::size_t>(each.rank)];
        std::memcpy(each.bytes.data(), slot(each.rank) + at, each.bytes.size());
        at += each.bytes.size();
      }
    };
    return try_call(call, room, is_given, {give, take});
  }

 private:
  using Counters = std::array<std::atomic<std::int64_t>, kMostRanks>;
  struct Board {
    std::atomic<int> joined;
    /// For each rank, the number of calls for which it has written its values, and the number whose values it has read.
    Counters given, taken;
  };
  using Offsets = std::array<std::size_t, kMostRanks>;
  /// Functions of a call: `give` writes this rank's values to its slot, `take` reads the slots of all ranks.
  struct Call {
    std::function<void(std::byte* slot)> give;
    std::function<void()> take;
  };
  static constexpr std::size_t kBoardBytes = 4096;

  bool try_call(std::int64_t number, std::size_t bytes, bool& is_given, const Call& call) {
    if (is_aborted_) return true;
    if (bytes > kMostBytes) throw DeviceError("[dist.twin] a bucket that is too large");
    if (!is_given) {
      if (!have_all(board().taken, number)) return false;  // another rank still reads the previous values
      call.give(slot(rank_));
      board().given[static_cast<std::size_t>(rank_)].store(number + 1);
      is_given = true;
    }
    if (!have_all(board().given, number + 1)) return false;
    call.take();
    board().taken[static_cast<std::size_t>(rank_)].store(number + 1);
    return true;
  }

  [[nodiscard]] std::size_t bytes() const { return kBoardBytes + kMostBytes * static_cast<std::size_t>(size_); }
  [[nodiscard]] Board& board() const { return *static_cast<Board*>(memory_); }
  [[nodiscard]] std::byte* slot(int rank) const {
    return static_cast<std::byte*>(memory_) + kBoardBytes + kMostBytes * static_cast<std::size_t>(rank);
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
  /// Returns the host memory that holds the bytes of a device span.
  std::function<std::span<std::byte>(runtime::DeviceSpan<std::byte>)> behind;

  /// Returns the host memory that holds the bytes of values.
  template <typename T>
  [[nodiscard]] std::span<std::byte> bytes_of(runtime::DeviceSpan<T> span) const {
    return behind({reinterpret_cast<std::byte*>(span.address), span.count * sizeof(T), span.copies});
  }
};

/// Returns the functions for a runtime::TwinDevice, whose streams are threads.
inline NcclTwinDevice twin_device() {
  return {.queue =
              [](runtime::Stream& stream, std::function<bool()> work) {
                dynamic_cast<runtime::TwinStream&>(stream).run([work = std::move(work)] {
                  while (!work()) std::this_thread::yield();
                });
              },
          .behind =
              [](runtime::DeviceSpan<std::byte> span) {
                return static_cast<runtime::TwinMemory*>(span.copies)->behind(span);
              }};
}

/// Faults that a test can cause.
struct NcclTwinFaults {
  /// Number of the mean or exchange, from 0, after whose start the group fails; negative: none.
  std::atomic<std::int64_t> failing = -1;
  /// True: the group never becomes complete, as if its ranks could not reach each other.
  std::atomic<bool> never_joins = false;
};

/// NcclCalls of one rank. Each call is complete at the second is_idle(), like NCCL calls that wait for connections.
class NcclTwin : public NcclCalls {
 public:
  /// @param faults faults to cause; null: none; must outlive this object
  explicit NcclTwin(NcclTwinDevice device, const NcclTwinFaults* faults = nullptr)
      : device_(std::move(device)), faults_(faults) {}
  NcclTwin(const NcclTwin&) = delete;
  NcclTwin& operator=(const NcclTwin&) = delete;
  ~NcclTwin() override {
    if (!is_ending_) NcclTwin::abort();
  }
  [[nodiscard]] std::string_view version() const override { return "NCCL twin"; }
  [[nodiscard]] NcclId make_id() override { return NcclTwinRoom::make_id(); }
  void join(const NcclId& id, int rank, int size, runtime::Stream& /*stream*/) override {
    room_ = std::make_shared<NcclTwinRoom>(id, rank, size);
    is_looked_at_ = false;
  }
  [[nodiscard]] bool is_idle() override {
    if (faults_ != nullptr && faults_->never_joins) return false;
    if (faults_ != nullptr && faults_->failing >= 0 && calls_ > faults_->failing) {
      throw CommError("remote process exited");
    }
    return std::exchange(is_looked_at_, true) && room_->is_complete();
  }
  void all_reduce_mean(runtime::DeviceSpan<float> data, runtime::Stream& stream) override {
    is_looked_at_ = false;
    device_.queue(stream, [room = room_, device = device_, data, call = calls_++, is_given = false]() mutable {
      const std::span<std::byte> bytes = device.bytes_of(data);
      return room->try_mean(call, {reinterpret_cast<float*>(bytes.data()), data.count}, is_given);
    });
  }
  void exchange(std::span<const NcclMessage> sends, std::span<const NcclMessage> receives,
                runtime::Stream& stream) override {
    is_looked_at_ = false;
    using Messages = std::vector<NcclMessage>;
    device_.queue(stream,
                  [room = room_, device = device_, sent = Messages(sends.begin(), sends.end()),
                   received = Messages(receives.begin(), receives.end()), call = calls_++, is_given = false]() mutable {
                    const auto letters = [&](const Messages& messages) {
                      std::vector<NcclTwinRoom::Letter> all;
                      for (const NcclMessage& each : messages) all.push_back({each.rank, device.bytes_of(each.values)});
                      return all;
                    };
                    return room->try_exchange(call, letters(sent), letters(received), is_given);
                  });
  }
  void end() override { is_ending_ = true; }
  [[nodiscard]] bool is_ending() const { return is_ending_; }
  /// Number of means and exchanges that were started.
  [[nodiscard]] std::int64_t calls() const { return calls_; }
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
