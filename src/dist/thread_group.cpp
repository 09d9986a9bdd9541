// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/thread_group.h"

#include <cstring>
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/thread_annotations.h"
#include "dist/reduce/wire.h"

namespace roentgen::dist {
namespace {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

void copy(ConstBytes from, std::byte* to) {
  if (!from.empty() && from.data() != to) std::memmove(to, from.data(), from.size());
}

/// Buffers that ranks have passed to one collective.
struct Meeting {
  std::vector<ConstBytes> given;
  std::vector<Bytes> taken;
  /// Number of ranks that have come, and of those that have seen the end.
  int arrived = 0;
  int left = 0;
};

/// Result of a collective, computed by the last rank that comes.
using Finish = void (*)(const Meeting& meeting, int root);

void finish_broadcast(const Meeting& meeting, int root) {
  for (const Bytes& to : meeting.taken) copy(meeting.given[static_cast<std::size_t>(root)], to.data());
}

// Sums in the order of ranks into the memory of each rank of `taken`. An element is read before it is written, because
// both lie in the same memory.
template <typename Number>
void sum_into(const Meeting& meeting, std::span<const Bytes> taken) {
  const std::size_t count = meeting.given[0].size() / sizeof(Number);
  for (std::size_t i = 0; i < count; ++i) {
    Number total = reinterpret_cast<const Number*>(meeting.given[0].data())[i];
    for (std::size_t rank = 1; rank < meeting.given.size(); ++rank) {
      total += reinterpret_cast<const Number*>(meeting.given[rank].data())[i];
    }
    for (const Bytes& to : taken) reinterpret_cast<Number*>(to.data())[i] = total;
  }
}
template <typename Number>
void finish_sum(const Meeting& meeting, int /*root*/) {
  sum_into<Number>(meeting, meeting.taken);
}
void finish_reduce(const Meeting& meeting, int root) {
  sum_into<float>(meeting, {&meeting.taken[static_cast<std::size_t>(root)], 1});
}
void finish_mean(const Meeting& meeting, int /*root*/) {
  sum_into<float>(meeting, meeting.taken);
  for (const Bytes& to : meeting.taken) {
    scale({reinterpret_cast<float*>(to.data()), to.size() / sizeof(float)},
          1.0F / static_cast<float>(meeting.taken.size()));
  }
}

void collect(const Meeting& meeting, Bytes to) {
  for (std::size_t from = 0; from < meeting.given.size(); ++from) {
    copy(meeting.given[from], to.data() + from * meeting.given[from].size());
  }
}
void finish_all_gather(const Meeting& meeting, int /*root*/) {
  for (const Bytes& to : meeting.taken) collect(meeting, to);
}
void finish_gather(const Meeting& meeting, int root) {
  collect(meeting, meeting.taken[static_cast<std::size_t>(root)]);
}

void finish_scatter(const Meeting& meeting, int root) {
  for (std::size_t to = 0; to < meeting.taken.size(); ++to) {
    const std::size_t bytes = meeting.taken[to].size();
    copy(meeting.given[static_cast<std::size_t>(root)].subspan(to * bytes, bytes), meeting.taken[to].data());
  }
}
void finish_exchange(const Meeting& meeting, int /*root*/) {
  for (std::size_t to = 0; to < meeting.taken.size(); ++to) {
    const std::size_t bytes = meeting.taken[to].size() / meeting.taken.size();
    for (std::size_t from = 0; from < meeting.given.size(); ++from) {
      copy(meeting.given[from].subspan(to * bytes, bytes), meeting.taken[to].data() + from * bytes);
    }
  }
}
void finish_barrier(const Meeting& /*meeting*/, int /*root*/) {}

/// Message that its receiver has not copied yet.
struct Letter {
  ConstBytes data;
  bool is_taken = false;
};
/// Messages from one rank to another with one tag.
struct Box {
  std::deque<std::shared_ptr<Letter>> letters;
  /// Number of receives that were started, and of those that are done.
  std::int64_t asked = 0;
  std::int64_t done = 0;
};

}  // namespace

/// State that the members share.
struct ThreadGroup::State {
  State(int ranks, std::string name)
      : size(ranks), host(std::move(name)), reached(static_cast<std::size_t>(ranks), 0) {}

  const int size;
  const std::string host;
  mutable Mutex mutex;
  std::map<std::int64_t, Meeting> meetings RG_GUARDED_BY(mutex);
  /// Number of collectives that each rank has come to.
  std::vector<std::int64_t> reached RG_GUARDED_BY(mutex);
  /// By sender, receiver and tag.
  std::map<std::tuple<int, int, int>, Box> boxes RG_GUARDED_BY(mutex);
  /// First rank that has failed; -1: none.
  int failed RG_GUARDED_BY(mutex) = -1;
  bool is_claimed RG_GUARDED_BY(mutex) = false;
};

namespace {

class ThreadMember final : public Communicator {
 public:
  ThreadMember(ThreadGroup::State& state, int rank) : state_(state), rank_(rank) {}
  [[nodiscard]] std::string_view name() const override { return "threads"; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return state_.size; }
  [[nodiscard]] int local_rank() const override { return rank_; }
  [[nodiscard]] int local_size() const override { return state_.size; }
  [[nodiscard]] bool shares_process() const override { return state_.size > 1; }
  [[nodiscard]] std::string_view host(int /*rank*/) const override { return state_.host; }

  Pending broadcast(Bytes data, int root, Phase phase) override {
    require_rank(root, phase);
    return meet(finish_broadcast, data, data, root, phase);
  }
  Pending all_reduce_sum(std::span<float> data, Phase phase) override {
    return meet(finish_sum<float>, std::as_bytes(data), std::as_writable_bytes(data), 0, phase);
  }
  Pending all_reduce_sum(std::span<double> data, Phase phase) override {
    return meet(finish_sum<double>, std::as_bytes(data), std::as_writable_bytes(data), 0, phase);
  }
  Pending all_reduce_mean(std::span<float> data, Phase phase) override {
    return meet(finish_mean, std::as_bytes(data), std::as_writable_bytes(data), 0, phase);
  }
  Pending all_gather(ConstBytes own, Bytes all, Phase phase) override {
    require_parts(own.size(), all.size(), phase);
    return meet(finish_all_gather, own, all, 0, phase);
  }
  Pending reduce_sum(std::span<float> data, int root, Phase phase) override {
    require_rank(root, phase);
    return meet(finish_reduce, std::as_bytes(data), std::as_writable_bytes(data), root, phase);
  }
  Pending scatter(ConstBytes all, Bytes own, int root, Phase phase) override {
    require_rank(root, phase);
    if (root == rank_) require_parts(own.size(), all.size(), phase);
    return meet(finish_scatter, all, own, root, phase);
  }
  Pending gather(ConstBytes own, Bytes all, int root, Phase phase) override {
    require_rank(root, phase);
    if (root == rank_) require_parts(own.size(), all.size(), phase);
    return meet(finish_gather, own, all, root, phase);
  }
  Pending all_to_all(ConstBytes given, Bytes taken, Phase phase) override {
    require_exchange(given, taken, phase);
    return meet(finish_exchange, given, taken, 0, phase);
  }
  Pending barrier(Phase phase) override { return meet(finish_barrier, {}, {}, 0, phase); }

  Pending send(ConstBytes data, Address to, Phase phase) override {
    require_rank(to.rank, phase);
    auto letter = std::make_shared<Letter>(Letter{.data = data});
    {
      const MutexLock lock(state_.mutex);
      state_.boxes[{rank_, to.rank, to.tag}].letters.push_back(letter);
    }
    return fly({.other = to.rank, .letter = std::move(letter)}, phase);
  }
  Pending receive(Bytes data, Address from, Phase phase) override {
    require_rank(from.rank, phase);
    Message message{.other = from.rank, .data = data};
    {
      const MutexLock lock(state_.mutex);
      message.box = &state_.boxes[{from.rank, rank_, from.tag}];
      message.number = message.box->asked++;
    }
    return fly(std::move(message), phase);
  }
  Pending compose(Composite& composite, Phase phase) override {
    const std::int64_t ticket = next_++;
    {
      const MutexLock lock(state_.mutex);
      state_.reached[static_cast<std::size_t>(rank_)] = next_;
    }
    composites_[ticket] = &composite;
    return {*this, ticket, phase};
  }

  void abandon() noexcept override {
    const MutexLock lock(state_.mutex);
    if (state_.failed < 0) state_.failed = rank_;
  }
  [[nodiscard]] bool claim_failure() noexcept override {
    const MutexLock lock(state_.mutex);
    return !std::exchange(state_.is_claimed, true);
  }

 protected:
  [[nodiscard]] bool poll(std::int64_t ticket) override {
    if (ticket < 0) return poll_message(ticket);
    const auto composite = composites_.find(ticket);
    if (composite == composites_.end()) return poll_meeting(ticket);
    {
      const MutexLock lock(state_.mutex);
      require_no_failure();
    }
    constexpr std::int64_t kAtOnce = 1024;
    const auto tag = kUserTags + Composite::kTags * static_cast<int>(ticket % kAtOnce);
    if (!composite->second->advance(tag)) return false;
    composites_.erase(composite);
    return true;
  }
  [[nodiscard]] std::vector<int> missing(std::int64_t ticket) const override {
    if (ticket < 0) return {messages_.at(ticket).other};
    const MutexLock lock(state_.mutex);
    std::vector<int> late;
    for (int rank = 0; rank < state_.size; ++rank) {
      if (state_.reached[static_cast<std::size_t>(rank)] <= ticket) late.push_back(rank);
    }
    return late;
  }

 private:
  /// One end of a message.
  struct Message {
    int other = 0;
    /// Sent message; null: this end receives.
    std::shared_ptr<Letter> letter{};
    Box* box = nullptr;
    std::int64_t number = 0;
    Bytes data{};
  };

  Pending meet(Finish finish, ConstBytes given, Bytes taken, int root, Phase phase) {
    const MutexLock lock(state_.mutex);
    const std::int64_t ticket = next_++;
    const auto at = static_cast<std::size_t>(rank_);
    const auto ranks = static_cast<std::size_t>(state_.size);
    state_.reached[at] = next_;
    Meeting& meeting = state_.meetings[ticket];
    meeting.given.resize(ranks);
    meeting.taken.resize(ranks);
    meeting.given[at] = given;
    meeting.taken[at] = taken;
    if (++meeting.arrived == state_.size && state_.failed < 0) finish(meeting, root);
    return {*this, ticket, phase};
  }
  Pending fly(Message message, Phase phase) {
    messages_.emplace(--next_message_, std::move(message));
    return {*this, next_message_, phase};
  }

  void require_no_failure() const RG_REQUIRES(state_.mutex) {
    if (state_.failed < 0) return;
    throw CommError(error_text("dist.threads", "this rank", "no failure of another rank",
                               "a failure of rank " + std::to_string(state_.failed), "reading the error of that rank"));
  }
  bool poll_meeting(std::int64_t ticket) {
    const MutexLock lock(state_.mutex);
    require_no_failure();
    const auto meeting = state_.meetings.find(ticket);
    if (meeting->second.arrived < state_.size) return false;
    if (++meeting->second.left == state_.size) state_.meetings.erase(meeting);
    return true;
  }
  bool poll_message(std::int64_t ticket) {
    const MutexLock lock(state_.mutex);
    require_no_failure();
    const auto found = messages_.find(ticket);
    const Message& message = found->second;
    if (message.letter ? !message.letter->is_taken : !take(message)) return false;
    messages_.erase(found);
    return true;
  }
  static bool take(const Message& message) {
    Box& box = *message.box;
    if (box.done != message.number || box.letters.empty()) return false;
    Letter& letter = *box.letters.front();
    if (letter.data.size() != message.data.size()) {
      throw CommError(error_text("dist.threads", "a message", std::to_string(message.data.size()) + " bytes",
                                 std::to_string(letter.data.size()), "the same options on all ranks"));
    }
    copy(letter.data, message.data.data());
    letter.is_taken = true;
    box.letters.pop_front();
    ++box.done;
    return true;
  }

  ThreadGroup::State& state_;
  const int rank_;
  /// Number of collectives so far. Tickets of messages are below 0.
  std::int64_t next_ = 0;
  std::int64_t next_message_ = 0;
  std::map<std::int64_t, Composite*> composites_;
  std::map<std::int64_t, Message> messages_;
};

}  // namespace

ThreadGroup::ThreadGroup(int size, std::string host) : state_(std::make_unique<State>(size, std::move(host))) {
  RG_ASSERT(size >= 1);
}

ThreadGroup::~ThreadGroup() = default;

int ThreadGroup::size() const { return state_->size; }

std::unique_ptr<Communicator> ThreadGroup::member(int rank) {
  RG_ASSERT(rank >= 0 && rank < size());
  return std::make_unique<ThreadMember>(*state_, rank);
}

}  // namespace roentgen::dist
