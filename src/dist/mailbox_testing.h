// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests: ranks of one process that send messages by reading each other's memory, with delays drawn from a seed. The
// receiver copies from the sender's memory when it polls, so the test detects a sender that changes it too early.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/thread_annotations.h"
#include "dist/communicator.h"
#include "dist/local_group_testing.h"

namespace roentgen::dist {

/// Messages of all ranks. Thread-safe.
class Mailboxes {
 public:
  explicit Mailboxes(int size) : started_(static_cast<std::size_t>(size), 0) {}
  [[nodiscard]] int size() const { return static_cast<int>(started_.size()); }

  using Route = std::tuple<int, int, int>;  ///< sender, receiver, tag
  std::size_t post(const Route& route, std::span<const std::byte> data) {
    const MutexLock lock(mutex_);
    auto& box = boxes_[route];
    box.push_back({data, false});
    return box.size() - 1;
  }
  /// Copies message `number` of the route to `data`. Returns false if it has not been sent.
  bool take(const Route& route, std::size_t number, std::span<std::byte> data) {
    const MutexLock lock(mutex_);
    auto& box = boxes_[route];
    if (number >= box.size()) return false;
    if (box[number].data.size() != data.size()) throw CommError("[dist.mailbox] a message of another size");
    std::ranges::copy(box[number].data, data.begin());
    box[number].is_taken = true;
    return true;
  }
  bool is_taken(const Route& route, std::size_t number) {
    const MutexLock lock(mutex_);
    return boxes_[route][number].is_taken;
  }
  std::int64_t start(int rank) {
    const MutexLock lock(mutex_);
    return started_[static_cast<std::size_t>(rank)]++;
  }
  std::vector<int> missing(std::int64_t ticket) const {
    const MutexLock lock(mutex_);
    std::vector<int> ranks;
    for (int rank = 0; rank < size(); ++rank) {
      if (started_[static_cast<std::size_t>(rank)] <= ticket) ranks.push_back(rank);
    }
    return ranks;
  }

 private:
  struct Letter {
    std::span<const std::byte> data;
    bool is_taken = false;
  };
  mutable Mutex mutex_;
  std::map<Route, std::deque<Letter>> boxes_ RG_GUARDED_BY(mutex_);
  /// Number of composites started by each rank; its size never changes.
  std::vector<std::int64_t> started_;
};

/// Communicator of one rank. It supports messages and composites; its own all_reduce_mean() only counts calls.
class MailboxCommunicator : public Communicator {
 public:
  /// @param hosts host number of each rank; empty: all ranks on one host
  MailboxCommunicator(Mailboxes& boxes, int rank, unsigned seed, std::vector<int> hosts = {})
      : boxes_(boxes), rank_(rank), random_(seed), hosts_(std::move(hosts)) {
    for (int other = 0; other < size(); ++other) {
      names_.push_back("node" + std::to_string(hosts_.empty() ? 0 : hosts_[static_cast<std::size_t>(other)]));
    }
  }
  [[nodiscard]] std::string_view name() const override { return "mailbox"; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return boxes_.size(); }
  [[nodiscard]] int local_rank() const override { return 0; }
  [[nodiscard]] int local_size() const override { return 1; }
  [[nodiscard]] std::string_view host(int rank) const override { return names_.at(static_cast<std::size_t>(rank)); }
  Pending broadcast(std::span<std::byte>, int, Phase) override { return {}; }
  Pending all_reduce_sum(std::span<float>, Phase) override { return {}; }
  Pending all_reduce_sum(std::span<double>, Phase) override { return {}; }
  Pending all_reduce_mean(std::span<float>, Phase) override {
    ++own_means;
    return {};
  }
  Pending all_gather(std::span<const std::byte>, std::span<std::byte>, Phase) override { return {}; }
  Pending reduce_sum(std::span<float>, int, Phase) override { return {}; }
  Pending scatter(std::span<const std::byte>, std::span<std::byte>, int, Phase) override { return {}; }
  Pending gather(std::span<const std::byte>, std::span<std::byte>, int, Phase) override { return {}; }
  Pending all_to_all(std::span<const std::byte>, std::span<std::byte>, Phase) override { return {}; }
  Pending barrier(Phase) override { return {}; }
  void abandon() noexcept override {}

  Pending send(std::span<const std::byte> data, Address to, Phase phase) override {
    const Mailboxes::Route route{rank_, to.rank, to.tag};
    return fly({.route = route, .number = boxes_.post(route, data)}, phase);
  }
  Pending receive(std::span<std::byte> data, Address from, Phase phase) override {
    const Mailboxes::Route route{from.rank, rank_, from.tag};
    return fly({.route = route, .number = received_[route]++, .data = data, .is_received = true}, phase);
  }
  Pending compose(Composite& composite, Phase phase) override {
    return fly({.composite = &composite, .ticket = boxes_.start(rank_)}, phase);
  }

  int own_means = 0;

 protected:
  [[nodiscard]] bool poll(std::int64_t at) override {
    const Flight flight = flights_[static_cast<std::size_t>(at)];
    if (flight.composite != nullptr) {
      return flight.composite->advance(kUserTags + Composite::kTags * static_cast<int>(flight.ticket % 1024));
    }
    if (random_() % 3 == 0) return false;  // late
    if (flight.is_received) return boxes_.take(flight.route, flight.number, flight.data);
    return boxes_.is_taken(flight.route, flight.number);
  }
  [[nodiscard]] std::vector<int> missing(std::int64_t at) const override {
    return boxes_.missing(flights_[static_cast<std::size_t>(at)].ticket);
  }

 private:
  struct Flight {
    Mailboxes::Route route{};
    std::size_t number = 0;
    std::span<std::byte> data{};
    bool is_received = false;
    Composite* composite = nullptr;
    std::int64_t ticket = 0;
  };
  Pending fly(const Flight& flight, Phase phase) {
    flights_.push_back(flight);
    return {*this, std::ssize(flights_) - 1, phase};
  }

  Mailboxes& boxes_;
  int rank_;
  std::minstd_rand random_;
  std::vector<int> hosts_;
  std::vector<std::string> names_;
  std::map<Mailboxes::Route, std::size_t> received_;
  std::deque<Flight> flights_;
};

/// MailboxCommunicator with the collectives of a LocalGroup, so that tests can average metrics as well as gradients.
class MailboxMember final : public MailboxCommunicator {
 public:
  MailboxMember(Mailboxes& boxes, LocalGroup& group, int rank, unsigned seed)
      : MailboxCommunicator(boxes, rank, seed), figures_(group.member(rank)) {}
  Pending broadcast(std::span<std::byte> data, int root, Phase phase) override {
    return figures_->broadcast(data, root, phase);
  }
  Pending all_reduce_sum(std::span<float> data, Phase phase) override { return figures_->all_reduce_sum(data, phase); }
  Pending all_reduce_sum(std::span<double> data, Phase phase) override { return figures_->all_reduce_sum(data, phase); }
  Pending all_reduce_mean(std::span<float> data, Phase phase) override {
    return figures_->all_reduce_mean(data, phase);
  }
  Pending all_gather(std::span<const std::byte> own, std::span<std::byte> all, Phase phase) override {
    return figures_->all_gather(own, all, phase);
  }
  Pending reduce_sum(std::span<float> data, int root, Phase phase) override {
    return figures_->reduce_sum(data, root, phase);
  }
  Pending scatter(std::span<const std::byte> all, std::span<std::byte> own, int root, Phase phase) override {
    return figures_->scatter(all, own, root, phase);
  }
  Pending gather(std::span<const std::byte> own, std::span<std::byte> all, int root, Phase phase) override {
    return figures_->gather(own, all, root, phase);
  }
  Pending all_to_all(std::span<const std::byte> given, std::span<std::byte> taken, Phase phase) override {
    return figures_->all_to_all(given, taken, phase);
  }
  Pending barrier(Phase phase) override { return figures_->barrier(phase); }
  [[nodiscard]] int size() const override { return figures_->size(); }
  void divide(int last, std::chrono::milliseconds limit) override { figures_->divide(last, limit); }

 private:
  std::unique_ptr<Communicator> figures_;
};

}  // namespace roentgen::dist
