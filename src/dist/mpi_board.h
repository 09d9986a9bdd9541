// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// MpiBoard: names ranks that are missing, which MPI does not report. Every rank publishes how many collectives it has
// started and completed, and that it still polls. The others read these numbers in a window without its help (MPI 3.1,
// 11.5: passive targets). For dist/mpi.cpp alone.
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

/// Signs that a rank publishes of itself.
struct Signs {
  /// Collectives that it has started.
  std::int64_t begun = 0;
  /// Collectives below it are done.
  std::int64_t done = 0;
  /// Grows while it waits for others.
  std::int64_t polls = 0;
  /// Rank plus one that failed first, among those that asked this rank.
  std::int64_t first_failed = 0;
  /// Rank plus one whose message it waits for, or that has not taken one of its own; 0: none.
  std::int64_t awaited = 0;
};

/// Ranks to blame for those that have not come to a collective: the ones whose messages they wait for, else themselves.
/// @param signs of all ranks, read while the late ones still polled
/// @param own this rank, which is not to blame
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

/// Window of all ranks' signs. Of the communicator's thread.
template <typename Abi>
class MpiBoard {
  using Handle = typename Abi::Handle;

 public:
  /// Both must outlive this.
  MpiBoard(const MpiFunctions<Abi>& functions, Session<Abi>& session) : mpi_(functions), session_(session) {}

  /// Makes the window. All ranks of the group call it together, before anything else. Throws CommError.
  void open(Handle group, int rank, int size) {
    rank_ = rank;
    size_ = total_ = size;
    check(mpi_.Win_allocate(sizeof(Signs), 1, mpi_.no_info, group, &own_, &window_));
    *own_ = {};
    check(mpi_.Win_lock_all(Abi::kModeNoCheck, window_));
    check(mpi_.Barrier(group));
    // A rank's first access waits for an answer in Open MPI's osc/pt2pt, although MPI_Rget should not. So it is made
    // once while all are present; later ones do not wait.
    signs_.assign(static_cast<std::size_t>(size_), {});
    std::vector<Handle> questions(static_cast<std::size_t>(size_), mpi_.no_request);
    for (int other = 0; other < size_; ++other) {
      check(mpi_.Rget(&signs_[static_cast<std::size_t>(other)], sizeof(Signs), mpi_.byte, other, 0, sizeof(Signs),
                      mpi_.byte, window_, &questions[static_cast<std::size_t>(other)]));
    }
    for (Handle& question : questions) check(mpi_.Wait(&question, &ignored_));
    check(mpi_.Barrier(group));
  }
  /// Frees the window, together with all ranks.
  void close() {
    mpi_.Win_unlock_all(window_);
    mpi_.Win_free(&window_);
  }

  /// Publishes that collectives below `next` are started.
  void begun(std::int64_t next) {
    publish(own_->begun, next);
    mpi_.Win_sync(window_);
  }
  /// Publishes that collectives below `oldest` are done.
  void done(std::int64_t oldest) { publish(own_->done, oldest); }
  /// Publishes that this rank waits.
  void polled() { publish(own_->polls, own_->polls + 1); }
  /// Publishes whose message this rank waits for, or who has not taken one of its own; -1: nobody.
  void awaits(int peer) { publish(own_->awaited, peer + 1); }
  /// Collectives are of `size` ranks from now on, from rank `first`.
  void divide(int first, int size) {
    first_ = first;
    size_ = size;
  }

  /// Rank to ask whether this rank is the first to fail, and the meaning of no answer.
  struct Claim {
    int of = 0;
    bool if_silent = true;
  };
  /// Decides once whether this rank is the first that fails. From then on no call may be made to MPI.
  bool claim(Claim claim) const noexcept {
    session_.has_failed = true;
    if (!claim_) claim_ = ask_to_be_first(claim);
    return *claim_;
  }
  /// claim() was called.
  [[nodiscard]] bool is_claimed() const { return claim_.has_value(); }

  /// Ranks that are missing in a collective; empty after claim(). This rank has then failed: operations in flight
  /// cannot be cancelled.
  [[nodiscard]] std::vector<int> missing(std::int64_t ticket) const {
    return claim_ ? std::vector<int>{} : claimed(idle_or_late(ticket));
  }
  /// missing() in a message with one other rank.
  [[nodiscard]] std::vector<int> missing_peer(int peer) const { return claim_ ? std::vector<int>{} : claimed({peer}); }

 private:
  // Sends this rank's last MPI message. It asks the lowest rank that is not missing. A silent rank has failed in the
  // same way, and has reported it.
  [[nodiscard]] std::vector<int> claimed(std::vector<int> missing) const {
    int asked = 0;
    while (asked < rank_ && std::ranges::find(missing, asked) != missing.end()) ++asked;
    static_cast<void>(claim({.of = asked, .if_silent = false}));
    return missing;
  }

  // Ranks that wait for nobody; without any, those that have not reached that collective.
  [[nodiscard]] std::vector<int> idle_or_late(std::int64_t ticket) const {
    std::vector<int> all(static_cast<std::size_t>(size_));
    std::iota(all.begin(), all.end(), first_);
    signs_.assign(static_cast<std::size_t>(total_), {});
    const std::vector<int> late = ask(all, [&](int /*rank*/, const Signs& now) { return now.begun > ticket; });
    const std::vector<Signs> before = signs_;
    // Ranks that poll wait themselves, for the same one or for another.
    const std::vector<int> idle = ask(all, [&](int rank, const Signs& now) {
      return now.done > ticket || now.polls != before[static_cast<std::size_t>(rank)].polls;
    });
    publish(own_->done, std::numeric_limits<std::int64_t>::max());  // later requests must not wait for this rank
    return idle.empty() ? to_blame(late, signs_, rank_) : idle;
  }

  // Waits for a while, then reads the signs of `ranks`. Those that do not answer in time, or whose answer is not good.
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
  /// Ranks that collectives are of.
  int first_ = 0, size_ = 1;
  mutable MpiStatus ignored_{};
  Handle window_{};
  /// This rank's signs, in the window.
  Signs* own_ = nullptr;
  /// Signs of all ranks when they were asked; kept, since an answer may come late.
  mutable std::vector<Signs> signs_;
  /// Request to the first of the failing ranks, and its answer.
  mutable std::int64_t own_claim_ = 0, first_failed_ = 0;
  mutable std::optional<bool> claim_;
};

}  // namespace roentgen::dist
