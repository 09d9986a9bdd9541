// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Communicator of processes started by MPI. It starts MPI's non-blocking collectives in place and polls them; after
// initialisation, no call blocks inside MPI. The board (mpi_board.h) finds missing ranks.
#include <array>
#include <bit>
#include <deque>
#include <exception>

#include "core/error.h"
#include "dist/comm_list.h"
#include "dist/communicator.h"
#include "dist/mpi_abi.h"
#include "dist/mpi_board.h"
#include "dist/mpi_hosts.h"
#include "dist/mpi_library.h"
#include "dist/mpi_session.h"
#include "dist/reduce/wire.h"

namespace roentgen::dist {
namespace {

// Largest number of collectives in flight, more than the gradient buckets of a step.
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
    board_.open(group_, rank_, size_);
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
    board_.close();
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
    require_rank(root, phase);
    const int count = mpi_count(data.size(), phase);
    Flight& flight = take_off(phase);
    return started(flight, mpi_.Ibcast(data.data(), count, mpi_.byte, root, part_, &flight.request));
  }
  Pending all_reduce_sum(std::span<float> data, Phase phase) override { return sum(data, mpi_.float32, phase, {}); }
  Pending all_reduce_sum(std::span<double> data, Phase phase) override { return sum(data, mpi_.float64, phase, {}); }
  Pending all_reduce_mean(std::span<float> data, Phase phase) override { return sum(data, mpi_.float32, phase, data); }
  Pending all_gather(std::span<const std::byte> own, std::span<std::byte> all, Phase phase) override {
    require_parts(own.size(), all.size(), phase);
    static_cast<void>(mpi_count(all.size(), phase));
    const int count = mpi_count(own.size(), phase);
    const bool is_in_place = own.data() == all.data() + own.size() * static_cast<std::size_t>(part_rank());
    Flight& flight = take_off(phase);
    return started(flight, mpi_.Iallgather(is_in_place ? in_place() : own.data(), is_in_place ? 0 : count, mpi_.byte,
                                           all.data(), count, mpi_.byte, part_, &flight.request));
  }
  Pending reduce_sum(std::span<float> data, int root, Phase phase) override {
    require_rank(root, phase);
    const int count = mpi_count(data.size(), phase);
    const bool is_root = root == part_rank();
    Flight& flight = take_off(phase);
    return started(flight, mpi_.Ireduce(is_root ? in_place() : data.data(), is_root ? data.data() : nullptr, count,
                                        mpi_.float32, mpi_.sum, root, part_, &flight.request));
  }
  Pending scatter(std::span<const std::byte> all, std::span<std::byte> own, int root, Phase phase) override {
    require_rank(root, phase);
    if (root == part_rank()) require_parts(own.size(), all.size(), phase);
    const int count = mpi_count(own.size(), phase);
    Flight& flight = take_off(phase);
    return started(flight, mpi_.Iscatter(all.data(), count, mpi_.byte, own.data(), count, mpi_.byte, root, part_,
                                         &flight.request));
  }
  Pending gather(std::span<const std::byte> own, std::span<std::byte> all, int root, Phase phase) override {
    require_rank(root, phase);
    if (root == part_rank()) require_parts(own.size(), all.size(), phase);
    const int count = mpi_count(own.size(), phase);
    Flight& flight = take_off(phase);
    return started(
        flight, mpi_.Igather(own.data(), count, mpi_.byte, all.data(), count, mpi_.byte, root, part_, &flight.request));
  }
  Pending all_to_all(std::span<const std::byte> given, std::span<std::byte> taken, Phase phase) override {
    require_exchange(given, taken, phase);
    const int count = mpi_count(given.size() / static_cast<std::size_t>(size_), phase);
    Flight& flight = take_off(phase);
    return started(
        flight, mpi_.Ialltoall(given.data(), count, mpi_.byte, taken.data(), count, mpi_.byte, part_, &flight.request));
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
    barrier({.name = "division of the ranks"}).wait(limit);  // MPI has no timeout, so wait here first
    const bool is_last = rank_ >= size_ - last;
    check(mpi_.Comm_split(group_, is_last ? 1 : 0, rank_, &part_), "division of the ranks");
    first_ = is_last ? size_ - last : 0;
    size_ = is_last ? last : size_ - last;
    board_.divide(first_, size_);
  }
  void abandon() noexcept override { session_.has_failed = true; }

  [[nodiscard]] bool claim_failure() noexcept override { return board_.claim({.of = 0, .if_silent = true}); }

 protected:
  [[nodiscard]] bool poll(std::int64_t ticket) override {
    if (board_.is_claimed()) return false;  // MPI might write into freed memory
    board_.polled();
    if (ticket < 0) return poll_message(static_cast<std::size_t>(-1 - ticket));
    if (!is_over(ticket)) return false;
    while (oldest_ < next_ticket_ && !flight_of(oldest_).is_under_way) ++oldest_;
    board_.done(oldest_);
    return true;
  }

  [[nodiscard]] std::vector<int> missing(std::int64_t ticket) const override {
    if (ticket >= 0) return board_.missing(ticket);
    return board_.missing_peer(messages_[static_cast<std::size_t>(-1 - ticket)].peer);
  }

 private:
  /// State of a collective in flight.
  struct Flight {
    bool is_under_way = false;
    Handle request{};
    /// Collective made of messages; null if the collective is one of MPI.
    Composite* composite = nullptr;
    std::span<float> to_be_mean{};
    Phase phase{};
  };
  /// Message in flight; its ticket is below 0.
  struct Message {
    Handle request{};
    int peer = 0;
    /// Number of bytes to receive; negative for a message that is sent.
    int wanted_bytes = -1;
    Phase phase{};
  };

  [[nodiscard]] int part_rank() const { return rank_ - first_; }

  static void* in_place() { return std::bit_cast<void*>(Abi::kInPlace); }
  void check(int code, auto what) const { session_.check(code, what); }
  [[nodiscard]] Flight& flight_of(std::int64_t ticket) {
    return flights_[static_cast<std::size_t>(ticket) % kMostFlights];
  }
  Flight& take_off(Phase phase) {
    Flight& flight = flight_of(next_ticket_);
    if (flight.is_under_way) {
      throw CommError(
          error_text("dist.mpi", phase.text(),
                     "at most " + std::to_string(kMostFlights) + " messages between all ranks at the same time", "more",
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
    board_.begun(next_ticket_);
    return {*this, ticket, flight.phase};
  }

  // First message tag of a composite. Composites in flight at the same time have different tags.
  static int tag_of(std::int64_t ticket) {
    return kUserTags + Composite::kTags * static_cast<int>(ticket % static_cast<std::int64_t>(kMostFlights));
  }
  Message& take_off(Address other, Phase phase) {
    if (other.rank < 0 || other.rank >= total_ || other.rank == rank_) {
      throw CommError(error_text("dist.mpi", phase.text(), "another rank from 0 to " + std::to_string(total_ - 1),
                                 std::to_string(other.rank), "one of these ranks"));
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
    board_.awaits(is_done ? -1 : message.peer);
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
  MpiBoard<Abi> board_{mpi_, session_};
  mutable MpiStatus ignored_{};
  /// MPI communicators: all ranks of the job, for messages and the board, and this rank's part, for collectives.
  Handle group_{}, part_{};
  int rank_ = 0, total_ = 1;
  /// First rank and number of ranks of the part.
  int first_ = 0, size_ = 1;
  MpiHosts hosts_;
  std::int64_t next_ticket_ = 0;
  /// Oldest unfinished ticket: all collectives with lower tickets are done.
  std::int64_t oldest_ = 0;
  std::array<Flight, kMostFlights> flights_;
  /// A deque, because MPI keeps pointers to its elements.
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
