// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// MpiBoard: finds the ranks that are missing in a collective, which MPI does not report. Every rank publishes how many
// collectives it started and completed, and that it still polls. The other ranks read these numbers through an MPI
// window without its help (MPI 3.1, 11.5: passive targets). Only for dist/mpi.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "dist/mpi_abi.h"
#include "dist/mpi_session.h"

namespace roentgen::dist {

/// Progress counters that a rank publishes about itself.
struct Signs {
  /// Number of collectives that the rank has started.
  std::int64_t begun = 0;
  /// All collectives with a lower number are done.
  std::int64_t done = 0;
  /// Counter that grows while the rank waits for others.
  std::int64_t polls = 0;
  /// One plus the rank that was first to report a failure to this rank; 0: none.
  std::int64_t first_failed = 0;
  /// One plus the rank whose message this rank waits for, or which has not received this rank's message; 0: none.
  std::int64_t awaited = 0;
};

/// Returns the ranks to blame for the late ranks of a collective. A late rank that waits for another rank's message is
/// not to blame; that other rank is.
/// @param late ranks that have not started the collective
/// @param signs signs of all ranks, read while the late ranks still polled
/// @param own this rank, which is never to blame
[[nodiscard]] inline std::vector<int> to_blame(const std::vector<int>& late, const std::vector<Signs>& signs, int own) {
  std::vector<int> ranks;
  for (const int rank : late) {
    const auto awaited = static_cast<int>(signs[static_cast<std::size_t>(rank)].awaited) - 1;
    const bool is_other = awaited >= 0 && awaited != own && std::ranges::find(late, awaited) == late.end();
    const int blamed = is_other ? awaited : rank;
    if (std::ranges::find(ranks, blamed) == ranks.end()) ranks.push_back(blamed);
  }
  return ranks;
}

/// MPI window with the signs of all ranks. Used only by the communicator's thread.
template <typename Abi>
class MpiBoard {
  using Handle = typename Abi::Handle;

 public:
  /// Both arguments must outlive this object.
  MpiBoard(const MpiFunctions<Abi>& functions, Session<Abi>& session) : mpi_(functions), session_(session) {}

  /// Creates the window. All ranks call it together, before all other functions. Throws CommError.
  void open(Handle group, int rank, int size) {
    rank_ = rank;
    size_ = total_ = size;
    check(mpi_.Win_allocate(sizeof(Signs), 1, mpi_.no_info, group, &own_, &window_));
    *own_ = {};
    check(mpi_.Win_lock_all(Abi::kModeNoCheck, window_));
    check(mpi_.Barrier(group));
    // In Open MPI's osc/pt2pt, a rank's first MPI_Rget waits for an answer, although it should not. So read once while
    // all ranks are present; later reads do not wait.
    signs_.assign(static_cast<std::size_t>(size_), {});
    std::vector<Handle> questions(static_cast<std::size_t>(size_), mpi_.no_request);
    for (int other = 0; other < size_; ++other) {
      check(mpi_.Rget(&signs_[static_cast<std::size_t>(other)], sizeof(Signs), mpi_.byte, other, 0, sizeof(Signs),
                      mpi_.byte, window_, &questions[static_cast<std::size_t>(other)]));
    }
    for (Handle& question : questions) check(mpi_.Wait(&question, &ignored_));
    check(mpi_.Barrier(group));
  }
  /// Frees the window. All ranks call it together.
  void close() {
    mpi_.Win_unlock_all(window_);
    mpi_.Win_free(&window_);
  }

  /// Publishes that all collectives with numbers below `next` are started.
  void begun(std::int64_t next) {
    publish(own_->begun, next);
    mpi_.Win_sync(window_);
  }
  /// Publishes that all collectives with numbers below `oldest` are done.
  void done(std::int64_t oldest) { publish(own_->done, oldest); }
  /// Publishes that this rank is still waiting.
  void polled() { publish(own_->polls, own_->polls + 1); }
  /// Publishes the rank whose message this rank waits for, or which has not received this rank's message; -1: none.
  void awaits(int peer) { publish(own_->awaited, peer + 1); }
  /// From now on, only the `size` ranks from rank `first` take part in collectives.
  void divide(int first, int size) {
    first_ = first;
    size_ = size;
  }

  /// Question to rank `of` whether this rank is the first to fail, and the answer to assume if that rank is silent.
  struct Claim {
    int of = 0;
    bool if_silent = true;
  };
  /// Decides, once, whether this rank is the first to fail. Afterwards MPI must not be called any more.
  bool claim(Claim claim) const noexcept {
    session_.has_failed = true;
    if (!claim_) claim_ = ask_to_be_first(claim);
    return *claim_;
  }
  /// True after claim() was called.
  [[nodiscard]] bool is_claimed() const { return claim_.has_value(); }

  /// Returns the ranks that are missing in a collective; empty after claim(). Calling it means that this rank has
  /// failed, because MPI cannot cancel operations in flight.
  [[nodiscard]] std::vector<int> missing(std::int64_t ticket) const {
    return claim_ ? std::vector<int>{} : claimed(idle_or_late(ticket));
  }
  /// Returns the missing rank of a message between this rank and `peer`, like missing().
  [[nodiscard]] std::vector<int> missing_peer(int peer) const { return claim_ ? std::vector<int>{} : claimed({peer}); }

 private:
  // Makes this rank's last MPI call, which asks the lowest rank that is not missing whether this rank is first to fail.
  // If that rank is silent, it has failed too and has reported it.
  [[nodiscard]] std::vector<int> claimed(std::vector<int> missing) const {
    int asked = 0;
    while (asked < rank_ && std::ranges::find(missing, asked) != missing.end()) ++asked;
    static_cast<void>(claim({.of = asked, .if_silent = false}));
    return missing;
  }

  // Returns the ranks that neither completed the collective nor wait for others. If there are none, returns the ranks
  // that have not reached the collective.
  [[nodiscard]] std::vector<int> idle_or_late(std::int64_t ticket) const {
    std::vector<int> all(static_cast<std::size_t>(size_));
    std::iota(all.begin(), all.end(), first_);
    signs_.assign(static_cast<std::size_t>(total_), {});
    const std::vector<int> late = ask(all, [&](int /*rank*/, const Signs& now) { return now.begun > ticket; });
    const std::vector<Signs> before = signs_;
    // A rank that polls waits for other ranks itself, so it is not the cause.
    const std::vector<int> idle = ask(all, [&](int rank, const Signs& now) {
      return now.done > ticket || now.polls != before[static_cast<std::size_t>(rank)].polls;
    });
    publish(own_->done, std::numeric_limits<std::int64_t>::max());  // so that later questions do not wait for this rank
    return idle.empty() ? to_blame(late, signs_, rank_) : idle;
  }

  // Waits for a while, then reads the signs of `ranks`. Returns those that do not answer in time or whose answer fails
  // `is_good`.
  template <typename IsGood>
  std::vector<int> ask(const std::vector<int>& ranks, const IsGood& is_good) const {
    const auto begin = std::chrono::steady_clock::now();
    for (; std::chrono::steady_clock::now() - begin < kAskingTime / 2; std::this_thread::yield()) {
      publish(own_->polls, own_->polls + 1);
    }
    std::vector<Handle> questions(ranks.size(), mpi_.no_request);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      mpi_.Rget(&signs_[static_cast<std::size_t>(ranks[i])], sizeof(Signs), mpi_.byte, ranks[i], 0, sizeof(Signs),
                mpi_.byte, window_, &questions[i]);
    }
    std::vector<int> bad;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      int has_answered = 0;
      do {
        publish(own_->polls, own_->polls + 1);
        if (mpi_.Test(&questions[i], &has_answered, &ignored_) != kMpiSuccess) break;
        if (has_answered == 0) std::this_thread::yield();
      } while (has_answered == 0 && std::chrono::steady_clock::now() - begin < kAskingTime);
      if (has_answered == 0 || !is_good(ranks[i], signs_[static_cast<std::size_t>(ranks[i])])) bad.push_back(ranks[i]);
    }
    return bad;
  }

  [[nodiscard]] bool ask_to_be_first(Claim claim) const noexcept {
    own_claim_ = rank_ + 1;
    Handle question{};
    const int code =
        mpi_.Rget_accumulate(&own_claim_, 1, mpi_.int64, &first_failed_, 1, mpi_.int64, claim.of,
                             offsetof(Signs, first_failed), 1, mpi_.int64, mpi_.replace, window_, &question);
    if (code != kMpiSuccess) return true;
    const auto begin = std::chrono::steady_clock::now();
    int has_answered = 0;
    while (mpi_.Test(&question, &has_answered, &ignored_) == kMpiSuccess && has_answered == 0 &&
           std::chrono::steady_clock::now() - begin < kAskingTime) {
      std::this_thread::yield();
    }
    return has_answered == 0 ? claim.if_silent : first_failed_ == 0;
  }

  static void publish(std::int64_t& sign, std::int64_t value) {
    std::atomic_ref(sign).store(value, std::memory_order_release);
  }
  void check(int code) const { session_.check(code, "start-up"); }

  static constexpr std::chrono::milliseconds kAskingTime{1000};

  const MpiFunctions<Abi>& mpi_;
  Session<Abi>& session_;
  int rank_ = 0, total_ = 1;
  /// First rank and number of ranks that take part in collectives.
  int first_ = 0, size_ = 1;
  mutable MpiStatus ignored_{};
  Handle window_{};
  /// Progress counters that this rank publishes to the others, in the MPI window's memory.
  Signs* own_ = nullptr;
  /// Copies of the progress counters of all ranks. They are members because an answer may arrive late.
  mutable std::vector<Signs> signs_;
  /// Value that claim() sends to the asked rank, and the rank's answer.
  mutable std::int64_t own_claim_ = 0, first_failed_ = 0;
  mutable std::optional<bool> claim_;
};

}  // namespace roentgen::dist
