// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "dist/communicator.h"

#include <thread>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "dist/comm_list.h"

namespace roentgen::dist {
namespace {
// Names ranks with their hosts: "ranks 2 (node07), 3 (node08)".
std::string ranks_text(const Communicator& group, std::span<const int> ranks) {
  if (ranks.empty()) return "an unknown rank";
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (const int rank : ranks) {
    text += (rank == ranks.front() ? "" : ", ") + std::to_string(rank) + " (" + std::string(group.host(rank)) + ")";
  }
  return text;
}
}  // namespace

std::string Phase::text() const { return index < 0 ? std::string(name) : name + (" " + std::to_string(index)); }

Pending::Pending(Pending&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)), ticket_(other.ticket_), phase_(other.phase_) {}

Pending& Pending::operator=(Pending&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(ticket_, other.ticket_);
  std::swap(phase_, other.phase_);
  return *this;
}

Pending::~Pending() {
  if (owner_ != nullptr)
    log::error("[dist.communicator] " + phase_.text() + ": communication abandoned before its end");
}

bool Pending::is_done() {
  if (owner_ == nullptr) return true;
  // A failed collective is over, too: poll() throws its error, and the destructor must not log it as abandoned.
  Communicator* owner = std::exchange(owner_, nullptr);
  if (owner->poll(ticket_)) return true;
  owner_ = owner;
  return false;
}

void Pending::wait(std::chrono::milliseconds limit) {
  const auto start = std::chrono::steady_clock::now();
  while (!is_done()) {
    if (std::chrono::steady_clock::now() - start >= limit) give_up(limit);
    std::this_thread::yield();
  }
}

void Pending::give_up(std::chrono::milliseconds limit) {
  RG_ASSERT(owner_ != nullptr);
  const std::string awaited = ticket_ < 0 ? "an answer" : "all " + std::to_string(owner_->size()) + " ranks";
  abandon(awaited + " within " + std::to_string(limit.count()) + " ms", "");
}

void Pending::fail(const std::string& reason) { abandon("no error", reason + ", "); }

void Pending::abandon(const std::string& expected, const std::string& got) {
  RG_ASSERT(owner_ != nullptr);
  Communicator* owner = std::exchange(owner_, nullptr);
  const std::string missing = ranks_text(*owner, owner->missing(ticket_));
  owner->has_given_up_ = true;
  throw CommError(error_text("dist." + std::string(owner->name()), phase_.text(), expected,
                             got + "no sign of " + missing,
                             "again (train: --resume) when its host and network work, or a longer --comm-timeout"));
}

void Communicator::require_rank(int root, Phase phase) const {
  if (root >= 0 && root < size()) return;
  throw CommError(error_text("dist." + std::string(name()), phase.text(),
                             "a root rank from 0 to " + std::to_string(size() - 1), std::to_string(root),
                             "a rank of the group"));
}

void Communicator::require_parts(std::size_t own, std::size_t all, Phase phase) const {
  const std::size_t wanted = own * static_cast<std::size_t>(size());
  if (all == wanted) return;
  throw CommError(error_text("dist." + std::string(name()), phase.text(),
                             "a buffer of " + std::to_string(wanted) + " bytes", std::to_string(all),
                             "equally many bytes for each rank"));
}

void Communicator::require_exchange(std::span<const std::byte> given, std::span<std::byte> taken, Phase phase) const {
  if (given.size() == taken.size() && given.size() % static_cast<std::size_t>(size()) == 0) return;
  throw CommError(error_text("dist." + std::string(name()), phase.text(),
                             "two buffers of " + std::to_string(size()) + " equal parts",
                             std::to_string(given.size()) + " and " + std::to_string(taken.size()) + " bytes",
                             "equally many bytes for each rank"));
}

Pending Communicator::send(std::span<const std::byte> /*data*/, Address to, Phase phase) {
  throw CommError(error_text("dist." + std::string(name()), phase.text(), "a receiver other than this rank",
                             "rank " + std::to_string(to.rank), "--reduce allreduce"));
}

Pending Communicator::receive(std::span<std::byte> /*data*/, Address from, Phase phase) {
  throw CommError(error_text("dist." + std::string(name()), phase.text(), "a sender other than this rank",
                             "rank " + std::to_string(from.rank), "--reduce allreduce"));
}

Pending Communicator::compose(Composite& /*composite*/, Phase phase) {
  throw CommError(error_text("dist." + std::string(name()), phase.text(), "a communicator with point-to-point messages",
                             "one with collectives only", "--reduce allreduce"));
}

void Communicator::divide(int last, std::chrono::milliseconds /*limit*/) {
  throw CommError(error_text(
      "dist." + std::string(name()), "division into workers and servers", "at least one worker and one server",
      std::to_string(last) + " servers of " + std::to_string(size()) + " ranks", "more --ranks"));
}

std::unique_ptr<Communicator> make_communicator(std::string_view name) {
#define RG_COMM_CASE(communicator) \
  if (name == #communicator) return make_##communicator##_communicator();
  RG_COMM_LIST(RG_COMM_CASE)
#undef RG_COMM_CASE
  std::string known;
#define RG_COMM_NAME(communicator) known += known.empty() ? #communicator : ", " #communicator;
  RG_COMM_LIST(RG_COMM_NAME)
#undef RG_COMM_NAME
  throw ConfigError(error_text("dist.communicator", "communicator", known, name, "one of these names"));
}

}  // namespace roentgen::dist
