// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests: ranks that are threads of one process.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"
#include "dist/communicator.h"

namespace roentgen::dist {

/// Group whose ranks are threads of this process; member(r) is the communicator of rank r. Sums are made in rank order,
/// in double precision. The group must outlive its members.
class LocalGroup {
 public:
  /// @param hosts host name of each rank; empty: all ranks are on host "here"
  explicit LocalGroup(int size, std::vector<std::string> hosts = {})
      : size_(size), hosts_(std::move(hosts)), whole_{.first = 0, .size = size} {}

  [[nodiscard]] std::unique_ptr<Communicator> member(int rank) { return std::make_unique<Member>(*this, rank); }
  [[nodiscard]] int size() const { return size_; }
  /// Phases of the collectives and messages that a rank has started so far, in order; repeated phases appear once.
  [[nodiscard]] std::vector<std::string> phases(int rank) {
    const std::scoped_lock lock(mutex_);
    return phases_[rank];
  }

 private:
  /// One collective: the buffers of the ranks that have started it, and their number.
  struct Meeting {
    std::vector<std::span<const std::byte>> given;
    std::vector<std::span<std::byte>> taken;
    int arrived = 0;
  };
  enum class Kind {
    Broadcast,
    SumFloats,
    MeanFloats,
    SumDoubles,
    AllGather,
    Reduce,
    Scatter,
    Gather,
    Exchange,
    Barrier
  };
  /// Ranks that take part in the same collectives: all ranks, or one part of them.
  struct Circle {
    int first = 0;
    int size = 0;
    std::deque<Meeting> meetings{};
    /// Number of collectives that each of its ranks has started.
    std::vector<std::int64_t> reached{};
  };

  class Member final : public Communicator {
   public:
    Member(LocalGroup& group, int rank) : group_(group), rank_(rank), circle_(&group.whole_) {}
    [[nodiscard]] std::string_view name() const override { return "local"; }
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return circle_->size; }
    [[nodiscard]] int local_rank() const override { return rank_; }
    [[nodiscard]] int local_size() const override { return group_.size_; }
    [[nodiscard]] std::string_view host(int rank) const override {
      return group_.hosts_.empty() ? std::string_view("here") : group_.hosts_.at(static_cast<std::size_t>(rank));
    }
    Pending broadcast(std::span<std::byte> data, int root, Phase phase) override {
      return meet(Kind::Broadcast, data, data, root, phase);
    }
    Pending all_reduce_sum(std::span<float> data, Phase phase) override {
      return meet(Kind::SumFloats, std::as_bytes(data), std::as_writable_bytes(data), 0, phase);
    }
    Pending all_reduce_sum(std::span<double> data, Phase phase) override {
      return meet(Kind::SumDoubles, std::as_bytes(data), std::as_writable_bytes(data), 0, phase);
    }
    Pending all_reduce_mean(std::span<float> data, Phase phase) override {
      return meet(Kind::MeanFloats, std::as_bytes(data), std::as_writable_bytes(data), 0, phase);
    }
    Pending all_gather(std::span<const std::byte> own, std::span<std::byte> all, Phase phase) override {
      return meet(Kind::AllGather, own, all, 0, phase);
    }
    Pending reduce_sum(std::span<float> data, int root, Phase phase) override {
      require_rank(root, phase);
      return meet(Kind::Reduce, std::as_bytes(data), std::as_writable_bytes(data), root, phase);
    }
    Pending scatter(std::span<const std::byte> all, std::span<std::byte> own, int root, Phase phase) override {
      require_rank(root, phase);
      if (root == rank_ - circle_->first) require_parts(own.size(), all.size(), phase);
      return meet(Kind::Scatter, all, own, root, phase);
    }
    Pending gather(std::span<const std::byte> own, std::span<std::byte> all, int root, Phase phase) override {
      require_rank(root, phase);
      if (root == rank_ - circle_->first) require_parts(own.size(), all.size(), phase);
      return meet(Kind::Gather, own, all, root, phase);
    }
    Pending all_to_all(std::span<const std::byte> given, std::span<std::byte> taken, Phase phase) override {
      require_exchange(given, taken, phase);
      return meet(Kind::Exchange, given, taken, 0, phase);
    }
    Pending barrier(Phase phase) override { return meet(Kind::Barrier, {}, {}, 0, phase); }
    /// Copies the message at once into the receiver's queue.
    Pending send(std::span<const std::byte> data, Address to, Phase phase) override {
      const std::scoped_lock lock(group_.mutex_);
      group_.note(rank_, phase);
      group_.messages_[{rank_, to.rank, to.tag}].emplace_back(data.begin(), data.end());
      return {};
    }
    Pending receive(std::span<std::byte> data, Address from, Phase phase) override {
      expected_[--next_message_] = {.from = from, .data = data};
      return {*this, next_message_, phase};
    }
    void divide(int last, std::chrono::milliseconds limit) override {
      if (last < 1 || last >= size()) return Communicator::divide(last, limit);
      barrier({.name = "division of the ranks"}).wait(limit);
      const std::scoped_lock lock(group_.mutex_);
      const int first = group_.size_ - last;
      circle_ = rank_ < first ? &group_.parts_[0] : &group_.parts_[1];
      circle_->first = rank_ < first ? 0 : first;
      circle_->size = rank_ < first ? first : last;
      next_ = 0;
    }
    void abandon() noexcept override {}
    [[nodiscard]] bool claim_failure() noexcept override {
      const std::scoped_lock lock(group_.mutex_);
      return !std::exchange(group_.has_failed_, true);
    }

   protected:
    [[nodiscard]] bool poll(std::int64_t ticket) override {
      const std::scoped_lock lock(group_.mutex_);
      if (ticket < 0) {
        // a real launcher would end the other ranks
        if (group_.has_failed_) throw CommError("[dist.local] another rank has failed");
        return take(ticket);
      }
      return circle_->meetings[static_cast<std::size_t>(ticket)].arrived == circle_->size;
    }
    [[nodiscard]] std::vector<int> missing(std::int64_t ticket) const override {
      const std::scoped_lock lock(group_.mutex_);
      if (ticket < 0) return {expected_.at(ticket).from.rank};
      std::vector<int> late;
      for (int i = 0; i < circle_->size; ++i) {
        if (circle_->reached[static_cast<std::size_t>(i)] <= ticket) late.push_back(circle_->first + i);
      }
      return late;
    }

   private:
    struct Expected {
      Address from;
      std::span<std::byte> data;
    };
    // Receives a message if it has arrived. Requires the group's mutex. Receives with the same rank and tag get
    // messages in the order in which they were started.
    bool take(std::int64_t ticket) {
      const Expected expected = expected_.at(ticket);
      for (const auto& [other, earlier] : expected_) {
        if (other <= ticket) continue;
        if (earlier.from.rank == expected.from.rank && earlier.from.tag == expected.from.tag) return false;
      }
      auto& messages = group_.messages_[{expected.from.rank, rank_, expected.from.tag}];
      if (messages.empty()) return false;
      if (messages.front().size() != expected.data.size()) throw CommError("[dist.local] a message of another size");
      copy(messages.front(), expected.data.data());
      messages.pop_front();
      expected_.erase(ticket);
      return true;
    }
    Pending meet(Kind kind, std::span<const std::byte> given, std::span<std::byte> taken, int root, Phase phase) {
      const std::scoped_lock lock(group_.mutex_);
      const std::int64_t ticket = next_++;
      group_.note(rank_, phase);
      LocalGroup::arrive(*circle_, kind, ticket, rank_, given, taken, root);
      return {*this, ticket, phase};
    }

    LocalGroup& group_;
    const int rank_;
    Circle* circle_;
    std::int64_t next_ = 0;
    /// Messages, below 0.
    std::int64_t next_message_ = 0;
    std::map<std::int64_t, Expected> expected_;
  };

  void note(int rank, Phase phase) {
    std::vector<std::string>& phases = phases_[rank];
    if (phases.empty() || phases.back() != phase.name) phases.emplace_back(phase.name);
  }

  static void arrive(Circle& circle, Kind kind, std::int64_t ticket, int rank, std::span<const std::byte> given,
                     std::span<std::byte> taken, int root) {
    const auto ranks = static_cast<std::size_t>(circle.size);
    const auto at = static_cast<std::size_t>(rank - circle.first);
    circle.reached.resize(ranks);
    circle.reached[at] = ticket + 1;
    if (std::ssize(circle.meetings) <= ticket) circle.meetings.resize(static_cast<std::size_t>(ticket) + 1);
    Meeting& meeting = circle.meetings[static_cast<std::size_t>(ticket)];
    meeting.given.resize(ranks);
    meeting.taken.resize(ranks);
    meeting.given[at] = given;
    meeting.taken[at] = taken;
    if (++meeting.arrived == circle.size) finish(kind, meeting, root);
  }

  static void finish(Kind kind, const Meeting& meeting, int root) {
    switch (kind) {
      case Kind::Broadcast:
        for (const auto& to : meeting.taken) copy(meeting.given[static_cast<std::size_t>(root)], to.data());
        return;
      case Kind::SumFloats:
        return sum<float>(meeting, 1.0);
      case Kind::MeanFloats:
        return sum<float>(meeting, static_cast<double>(meeting.given.size()));
      case Kind::SumDoubles:
        return sum<double>(meeting, 1.0);
      case Kind::AllGather:
        for (const auto& to : meeting.taken) collect(meeting, to);
        return;
      case Kind::Reduce:
        return sum_into<float>(meeting, 1.0, {&meeting.taken[static_cast<std::size_t>(root)], 1});
      case Kind::Scatter:
        for (std::size_t to = 0; to < meeting.taken.size(); ++to) {
          copy_part(meeting.given[static_cast<std::size_t>(root)], to, meeting.taken[to]);
        }
        return;
      case Kind::Gather:
        return collect(meeting, meeting.taken[static_cast<std::size_t>(root)]);
      case Kind::Exchange:
        for (std::size_t to = 0; to < meeting.taken.size(); ++to) {
          const std::size_t bytes = meeting.taken[to].size() / meeting.taken.size();
          for (std::size_t from = 0; from < meeting.given.size(); ++from) {
            copy_part(meeting.given[from], to, meeting.taken[to].subspan(from * bytes, bytes));
          }
        }
        return;
      case Kind::Barrier:
        return;
    }
  }

  static void copy(std::span<const std::byte> from, std::byte* to) {
    if (!from.empty() && from.data() != to) std::memmove(to, from.data(), from.size());
  }

  // Copies part `at` of `all` to `to`, where all parts have the size of `to`.
  static void copy_part(std::span<const std::byte> all, std::size_t at, std::span<std::byte> to) {
    copy(all.subspan(at * to.size(), to.size()), to.data());
  }
  static void collect(const Meeting& meeting, std::span<std::byte> to) {
    for (std::size_t from = 0; from < meeting.given.size(); ++from) {
      copy(meeting.given[from], to.data() + from * meeting.given[from].size());
    }
  }

  template <typename Number>
  static void sum(const Meeting& meeting, double divisor) {
    sum_into<Number>(meeting, divisor, meeting.taken);
  }
  template <typename Number>
  static void sum_into(const Meeting& meeting, double divisor, std::span<const std::span<std::byte>> taken) {
    const std::size_t count = meeting.given[0].size() / sizeof(Number);
    for (std::size_t i = 0; i < count; ++i) {
      double total = 0.0;
      for (const auto& values : meeting.given) total += reinterpret_cast<const Number*>(values.data())[i];
      const auto result = static_cast<Number>(total / divisor);
      for (const auto& to : taken) reinterpret_cast<Number*>(to.data())[i] = result;
    }
  }

  const int size_;
  const std::vector<std::string> hosts_;
  std::mutex mutex_;
  Circle whole_;
  /// The two parts of the ranks after divide().
  std::array<Circle, 2> parts_{};
  bool has_failed_ = false;
  std::map<int, std::vector<std::string>> phases_;
  /// Messages by sender, receiver and tag.
  std::map<std::tuple<int, int, int>, std::deque<std::vector<std::byte>>> messages_;
};

}  // namespace roentgen::dist
