// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Processes under MPI. Collectives are MPI's own, started in place and polled; nothing here waits inside MPI once the
// group is initialised. MPI does not report which rank is missing. So every rank publishes how many collectives it has
// started and completed, and that it still polls. The others read these numbers in a window without its help (MPI 3.1,
// 11.5: passive targets).
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <deque>
#include <exception>
#include <limits>
#include <numeric>
#include <optional>
#include <thread>

#include "core/error.h"
#include "dist/comm_list.h"
#include "dist/communicator.h"
#include "dist/mpi_abi.h"
#include "dist/mpi_hosts.h"
#include "dist/mpi_library.h"
#include "dist/mpi_session.h"
#include "dist/reduce/wire.h"

namespace roentgen::dist {
namespace {

constexpr std::chrono::milliseconds kAskingTime{1000};
// Collectives that may be under way at once: more than a step has buckets.
constexpr std::size_t kMostFlights = 1024;

template <typename Abi>
class MpiCommunicator final : public Communicator {
  using Handle = typename Abi::Handle;

 public:
  explicit MpiCommunicator(const MpiLibrary& library) : mpi_(library), session_(library, mpi_) {
    check(mpi_.Comm_dup(mpi_.world, &group_), "start-up");
    mpi_.Comm_set_errhandler(group_, mpi_.errors_return);
    mpi_.Comm_rank(group_, &rank_);
    mpi_.Comm_size(group_, &size_);
    part_ = group_;
    total_ = size_;
    hosts_ = find_hosts(mpi_, session_, group_);
    open_window();
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  ~MpiCommunicator() override {
    for (const Flight& flight : flights_) session_.has_failed |= flight.is_under_way;
    session_.has_failed |= free_messages_.size() < messages_.size();
    if (session_.has_failed || std::uncaught_exceptions() > exceptions_) {
      session_.has_failed = true;
      return;
    }
    mpi_.Win_unlock_all(window_);
    mpi_.Win_free(&window_);
    if (part_ != group_) mpi_.Comm_free(&part_);
    mpi_.Comm_free(&group_);
  }

  [[nodiscard]] std::string_view name() const override { return "mpi"; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int local_rank() const override { return hosts_.local_rank; }
  [[nodiscard]] int local_size() const override { return hosts_.local_size; }
  [[nodiscard]] std::string_view host(int rank) const override {
    return hosts_.names.at(static_cast<std::size_t>(rank));
  }

  Pending broadcast(std::span<std::byte> data, int root, Phase phase) override {
    if (root < 0 || root >= size_) {
      throw CommError(error_text("dist.mpi", phase.text(), "a root from 0 to " + std::to_string(size_ - 1),
                                 std::to_string(root), "one of them"));
    }
    const int count = mpi_count(data.size(), phase);
    Flight& flight = take_off(phase);
    return started(flight, mpi_.Ibcast(data.data(), count, mpi_.byte, root, part_, &flight.request));
  }
  Pending all_reduce_sum(std::span<float> data, Phase phase) override { return sum(data, mpi_.float32, phase, {}); }
  Pending all_reduce_sum(std::span<double> data, Phase phase) override { return sum(data, mpi_.float64, phase, {}); }
  Pending all_reduce_mean(std::span<float> data, Phase phase) override { return sum(data, mpi_.float32, phase, data); }
  Pending all_gather(std::span<const std::byte> own, std::span<std::byte> all, Phase phase) override {
    const std::size_t wanted = own.size() * static_cast<std::size_t>(size_);
    if (all.size() != wanted) {
      throw CommError(error_text("dist.mpi", phase.text(), "room for " + std::to_string(wanted) + " bytes",
                                 std::to_string(all.size()), "as many bytes for each rank"));
    }
    static_cast<void>(mpi_count(all.size(), phase));
    const int count = mpi_count(own.size(), phase);
    const bool is_in_place = own.data() == all.data() + own.size() * static_cast<std::size_t>(rank_ - first_);
    Flight& flight = take_off(phase);
    return started(flight, mpi_.Iallgather(is_in_place ? in_place() : own.data(), is_in_place ? 0 : count, mpi_.byte,
                                           all.data(), count, mpi_.byte, part_, &flight.request));
  }
  Pending barrier(Phase phase) override {
    Flight& flight = take_off(phase);
    return started(flight, mpi_.Ibarrier(part_, &flight.request));
  }
  Pending send(std::span<const std::byte> data, Address to, Phase phase) override {
    const int count = mpi_count(data.size(), phase);
    Message& message = take_off(to, phase);
    return started(message, mpi_.Isend(data.data(), count, mpi_.byte, to.rank, to.tag, group_, &message.request));
  }
  Pending receive(std::span<std::byte> data, Address from, Phase phase) override {
    const int count = mpi_count(data.size(), phase);
    Message& message = take_off(from, phase);
    message.wanted_bytes = count;
    return started(message, mpi_.Irecv(data.data(), count, mpi_.byte, from.rank, from.tag, group_, &message.request));
  }
  Pending compose(Composite& composite, Phase phase) override {
    Flight& flight = take_off(phase);
    flight.composite = &composite;
    return started(flight, kMpiSuccess);
  }
  void divide(int last, std::chrono::milliseconds limit) override {
    if (last < 1 || last >= size_) return Communicator::divide(last, limit);
    barrier({.name = "division of the ranks"}).wait(limit);  // MPI itself waits without a limit
    const bool is_last = rank_ >= size_ - last;
    check(mpi_.Comm_split(group_, is_last ? 1 : 0, rank_, &part_), "division of the ranks");
    first_ = is_last ? size_ - last : 0;
    size_ = is_last ? last : size_ - last;
  }
  void abandon() noexcept override { session_.has_failed = true; }

  [[nodiscard]] bool claim_failure() noexcept override { return claim({.of = 0, .if_silent = true}); }

 protected:
  [[nodiscard]] bool poll(std::int64_t ticket) override {
    if (claim_) return false;  // MPI would still write into memory that may be gone by now
    publish(own_->polls, own_->polls + 1);
    if (ticket < 0) return poll_message(static_cast<std::size_t>(-1 - ticket));
    if (!is_over(ticket)) return false;
    while (oldest_ < next_ticket_ && !flight_of(oldest_).is_under_way) ++oldest_;
    publish(own_->done, oldest_);
    return true;
  }

  [[nodiscard]] std::vector<int> missing(std::int64_t ticket) const override {
    if (claim_) return {};
    const std::vector<int> ranks =
        ticket < 0 ? std::vector<int>{messages_[static_cast<std::size_t>(-1 - ticket)].peer} : idle_or_late(ticket);
    // Operations in flight cannot be cancelled, so this rank has failed, and must send its last MPI message now. It
    // asks the lowest rank that is not missing. A silent rank has failed in the same way, and has reported it.
    int asked = 0;
    while (asked < rank_ && std::ranges::find(ranks, asked) != ranks.end()) ++asked;
    static_cast<void>(claim({.of = asked, .if_silent = false}));
    return ranks;
  }

 private:
  /// A collective under way.
  struct Flight {
    bool is_under_way = false;
    Handle request{};
    /// Composite of messages, for a collective that is not MPI's own; else null.
    Composite* composite = nullptr;
    std::span<float> to_be_mean{};
    Phase phase{};
  };
  /// A message under way; its ticket is below 0.
  struct Message {
    Handle request{};
    int peer = 0;
    /// Bytes to receive; negative: the message is sent.
    int wanted_bytes = -1;
    Phase phase{};
  };

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

  /// Rank to ask whether this rank is the first to fail, and the meaning of no answer.
  struct Claim {
    int of = 0;
    bool if_silent = true;
  };
  // Decides once whether this rank is the first that fails. From then on no call is made to MPI.
  bool claim(Claim claim) const noexcept {
    session_.has_failed = true;
    if (!claim_) claim_ = ask_to_be_first(claim);
    return *claim_;
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

  void open_window() {
    check(mpi_.Win_allocate(sizeof(Signs), 1, mpi_.no_info, group_, &own_, &window_), "start-up");
    *own_ = {};
    check(mpi_.Win_lock_all(Abi::kModeNoCheck, window_), "start-up");
    check(mpi_.Barrier(group_), "start-up");
    // A rank's first access waits for an answer in Open MPI's osc/pt2pt, although MPI_Rget should not. So it is made
    // once while all are present; later ones do not wait.
    signs_.assign(static_cast<std::size_t>(size_), {});
    std::vector<Handle> questions(static_cast<std::size_t>(size_), mpi_.no_request);
    for (int rank = 0; rank < size_; ++rank) {
      check(mpi_.Rget(&signs_[static_cast<std::size_t>(rank)], sizeof(Signs), mpi_.byte, rank, 0, sizeof(Signs),
                      mpi_.byte, window_, &questions[static_cast<std::size_t>(rank)]),
            "start-up");
    }
    for (Handle& question : questions) check(mpi_.Wait(&question, &ignored_), "start-up");
    check(mpi_.Barrier(group_), "start-up");
  }

  static void publish(std::int64_t& sign, std::int64_t value) {
    std::atomic_ref(sign).store(value, std::memory_order_release);
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

  static void* in_place() { return std::bit_cast<void*>(Abi::kInPlace); }
  void check(int code, auto what) const { session_.check(code, what); }
  [[nodiscard]] Flight& flight_of(std::int64_t ticket) {
    return flights_[static_cast<std::size_t>(ticket) % kMostFlights];
  }
  Flight& take_off(Phase phase) {
    Flight& flight = flight_of(next_ticket_);
    if (flight.is_under_way) {
      throw CommError(error_text("dist.mpi", phase.text(),
                                 "at most " + std::to_string(kMostFlights) + " collectives under way", "more",
                                 "a larger train.bucket_mb"));
    }
    flight.phase = phase;
    return flight;
  }
  Pending started(Flight& flight, int code) {
    session_.has_failed |= code != kMpiSuccess;
    check(code, flight.phase);
    flight.is_under_way = true;
    const std::int64_t ticket = next_ticket_++;
    publish(own_->begun, next_ticket_);
    mpi_.Win_sync(window_);
    return {*this, ticket, flight.phase};
  }

  // Two that are under way at once have different ones.
  static int tag_of(std::int64_t ticket) {
    return kUserTags + Composite::kTags * static_cast<int>(ticket % static_cast<std::int64_t>(kMostFlights));
  }
  Message& take_off(Address other, Phase phase) {
    if (other.rank < 0 || other.rank >= total_ || other.rank == rank_) {
      throw CommError(error_text("dist.mpi", phase.text(), "another rank from 0 to " + std::to_string(total_ - 1),
                                 std::to_string(other.rank), "one of them"));
    }
    if (free_messages_.empty()) {
      messages_.emplace_back();
      free_messages_.reserve(messages_.size());
      free_messages_.push_back(messages_.size() - 1);
    }
    Message& message = messages_[free_messages_.back()];
    message.peer = other.rank;
    message.phase = phase;
    message.wanted_bytes = -1;
    return message;
  }
  Pending started(const Message& message, int code) {
    session_.has_failed |= code != kMpiSuccess;
    check(code, message.phase);
    const auto at = static_cast<std::int64_t>(free_messages_.back());
    free_messages_.pop_back();
    return {*this, -1 - at, message.phase};
  }
  [[nodiscard]] bool is_over(std::int64_t ticket) {
    Flight& flight = flight_of(ticket);
    if (flight.composite != nullptr) {
      if (!flight.composite->advance(tag_of(ticket))) return false;
      flight.composite = nullptr;
      flight.is_under_way = false;
      return true;
    }
    if (!is_over(flight.request, flight.phase, ignored_)) return false;
    flight.is_under_way = false;
    scale(flight.to_be_mean, 1.0F / static_cast<float>(size_));
    flight.to_be_mean = {};
    return true;
  }
  [[nodiscard]] bool poll_message(std::size_t at) {
    Message& message = messages_[at];
    MpiStatus status;
    const bool is_done = is_over(message.request, message.phase, status);
    publish(own_->awaited, is_done ? 0 : message.peer + 1);
    if (!is_done) return false;
    free_messages_.push_back(at);
    int bytes = -1;
    if (message.wanted_bytes >= 0) mpi_.Get_count(&status, mpi_.byte, &bytes);
    if (bytes == message.wanted_bytes) return true;
    throw CommError(
        error_text("dist.mpi", message.phase.text(),
                   std::to_string(message.wanted_bytes) + " bytes from rank " + std::to_string(message.peer),
                   std::to_string(bytes), "the same options on all ranks"));
  }
  [[nodiscard]] bool is_over(Handle& request, Phase phase, MpiStatus& status) {
    int is_done = 0;
    const int code = mpi_.Test(&request, &is_done, &status);
    session_.has_failed |= code != kMpiSuccess;
    check(code, phase);
    return is_done != 0;
  }

  template <typename Number>
  Pending sum(std::span<Number> data, Handle type, Phase phase, std::span<float> to_be_mean) {
    const int count = mpi_count(data.size(), phase);
    Flight& flight = take_off(phase);
    flight.to_be_mean = to_be_mean;
    return started(flight, mpi_.Iallreduce(in_place(), data.data(), count, type, mpi_.sum, part_, &flight.request));
  }

  const int exceptions_ = std::uncaught_exceptions();
  const MpiFunctions<Abi> mpi_;
  mutable Session<Abi> session_;
  mutable MpiStatus ignored_{};
  /// All ranks of the job: messages and the window; and those of this rank's part: collectives.
  Handle group_{}, part_{};
  int rank_ = 0, total_ = 1;
  /// First rank and number of ranks of the part.
  int first_ = 0, size_ = 1;
  MpiHosts hosts_;
  Handle window_{};
  /// This rank's signs, in the window.
  Signs* own_ = nullptr;
  /// Signs of all ranks when they were asked; kept, since an answer may come late.
  mutable std::vector<Signs> signs_;
  /// Request to the first of the failing ranks, and its answer.
  mutable std::int64_t own_claim_ = 0, first_failed_ = 0;
  mutable std::optional<bool> claim_;
  std::int64_t next_ticket_ = 0;
  /// Tickets below it are done.
  std::int64_t oldest_ = 0;
  std::array<Flight, kMostFlights> flights_;
  /// A deque: what MPI works on must not move.
  std::deque<Message> messages_;
  std::vector<std::size_t> free_messages_;
};

}  // namespace

std::unique_ptr<Communicator> make_mpi_communicator() {
  const MpiLibrary library = load_mpi();
  if (library.family == kOpenMpi) return std::make_unique<MpiCommunicator<OpenMpiAbi>>(library);
  return std::make_unique<MpiCommunicator<MpichAbi>>(library);
}

}  // namespace roentgen::dist
