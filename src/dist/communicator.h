// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Communicator: communication between ranks. It handles spans of memory and knows no graphs, buckets or optimizers.
// Every collective is started, polled and given a time limit; no call blocks. Sum and mean always have different names.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::dist {

/// Purpose of a collective, as its timeout names it: {"gradient bucket", 3}. `name` must be a literal.
struct Phase {
  const char* name = "";  ///< name, a literal
  /// Index of the collective; negative: not numbered.
  std::int64_t index = -1;
  /// "gradient bucket 3", "start-up".
  [[nodiscard]] std::string text() const;
};

class Communicator;

/// A running collective or message. Move-only; for the communicator's thread only. Its memory must live, and must not
/// be accessed, until it is done. It cannot be cancelled: the destructor of an unfinished one logs an error.
class [[nodiscard]] Pending {
 public:
  /// Creates a finished Pending.
  Pending() = default;
  /// For communicators: represents collective `ticket` of `owner`, which must outlive it. Messages have tickets below
  /// 0.
  Pending(Communicator& owner, std::int64_t ticket, Phase phase) : owner_(&owner), ticket_(ticket), phase_(phase) {}
  Pending(Pending&& other) noexcept;             ///< takes over the collective
  Pending& operator=(Pending&& other) noexcept;  ///< takes over the collective; the previous one moves to the argument
  ~Pending();

  /// Advances the collective. Returns true when it is done. Throws CommError if it failed.
  [[nodiscard]] bool is_done();
  /// Polls and yields until the collective is done. Throws CommError like give_up() after `limit`.
  void wait(std::chrono::milliseconds limit);
  /// Throws CommError naming the phase, the exceeded limit, and the missing ranks with their hosts. Afterwards
  /// has_given_up() of the communicator returns true.
  [[noreturn]] void give_up(std::chrono::milliseconds limit);
  /// Like give_up(), but for a reason other than a timeout; the error names the reason instead of the limit.
  [[noreturn]] void fail(const std::string& reason);
  /// Abandons the collective without logging, if its failure is already reported.
  void forget() noexcept { owner_ = nullptr; }

 private:
  [[noreturn]] void abandon(const std::string& expected, const std::string& got);

  Communicator* owner_ = nullptr;  ///< null when done
  std::int64_t ticket_ = 0;
  Phase phase_;
};

/// The other rank of a message, and a tag. Between two ranks, messages with one tag arrive in the order of sending.
struct Address {
  int rank = 0;  ///< the other rank
  /// Tag, 0 to kUserTags - 1; higher tags belong to composites.
  int tag = 0;
};
inline constexpr int kUserTags = 1024;  ///< lower tags are for callers

/// A collective made of messages. For the communicator's thread only; must outlive its Pending.
class Composite {
 public:
  /// Number of consecutive tags reserved for a composite.
  static constexpr int kTags = 16;
  virtual ~Composite() = default;
  /// Starts (at the first call) and polls its messages. Returns true when all are done, and is then not called again.
  /// @param tag first of its kTags tags, equal on all ranks
  [[nodiscard]] virtual bool advance(int tag) = 0;
};

/// Membership of this process in a group of ranks: all ranks of the job, or one part of them after divide(). All ranks
/// must start the same collectives in the same order with the same sizes. Only the thread that created it may use it
/// and its Pending objects. Starting and polling allocate nothing.
class Communicator {
 public:
  virtual ~Communicator() = default;
  /// Name of the implementation in comm_list.h.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Number of this rank in the job, from 0. divide() does not change it.
  [[nodiscard]] virtual int rank() const = 0;
  /// Number of ranks that take part in collectives, at least 1.
  [[nodiscard]] virtual int size() const = 0;
  /// Position among the ranks of this host, from 0, for the choice of devices and cores.
  [[nodiscard]] virtual int local_rank() const = 0;
  /// Number of ranks on this host, at least 1. They share its memory.
  [[nodiscard]] virtual int local_size() const = 0;
  /// True if other ranks are threads of this process.
  [[nodiscard]] virtual bool shares_process() const { return false; }
  /// Name of the host of a rank; every rank knows all hosts.
  [[nodiscard]] virtual std::string_view host(int rank) const = 0;

  /// Copies `data` of rank `root` to all ranks. Throws CommError if `root` is no rank.
  virtual Pending broadcast(std::span<std::byte> data, int root, Phase phase) = 0;
  /// Replaces `data` on every rank by the sum over ranks. The result has the same bits on all ranks and in every
  /// repetition.
  virtual Pending all_reduce_sum(std::span<float> data, Phase phase) = 0;
  virtual Pending all_reduce_sum(std::span<double> data, Phase phase) = 0;  ///< all_reduce_sum() in double
  /// Replaces `data` on every rank by the mean over ranks: all_reduce_sum() divided by size().
  virtual Pending all_reduce_mean(std::span<float> data, Phase phase) = 0;
  /// Fills `all` on every rank with `own` of all ranks, in rank order. Throws CommError unless `all` has size() *
  /// own.size() bytes. `own` may be this rank's part of `all`.
  virtual Pending all_gather(std::span<const std::byte> own, std::span<std::byte> all, Phase phase) = 0;
  /// Replaces `data` of rank `root` by the sum over ranks; other ranks keep their data. The result has the same bits in
  /// every repetition. Throws CommError if `root` is no rank.
  virtual Pending reduce_sum(std::span<float> data, int root, Phase phase) = 0;
  /// Copies to `own` of every rank its part of the root's `all`, in rank order. On other ranks, `all` is not read.
  /// Throws CommError unless the root's `all` has size() * own.size() bytes and `root` is a rank.
  virtual Pending scatter(std::span<const std::byte> all, std::span<std::byte> own, int root, Phase phase) = 0;
  /// Copies `own` of every rank to the root's `all`, in rank order. On other ranks, `all` is not written. Throws
  /// CommError unless the root's `all` has size() * own.size() bytes and `root` is a rank.
  virtual Pending gather(std::span<const std::byte> own, std::span<std::byte> all, int root, Phase phase) = 0;
  /// Sends part i of `given` to rank i, which stores it in its `taken` at the sender's position. Both buffers have
  /// size() parts of equal size and do not overlap. Throws CommError unless they have equal sizes divisible by size().
  virtual Pending all_to_all(std::span<const std::byte> given, std::span<std::byte> taken, Phase phase) = 0;
  /// Starts a barrier, which is done when every rank has started it.
  virtual Pending barrier(Phase phase) = 0;

  /// Sends a message to another rank, which must receive the same number of bytes with the same tag. Only the two ranks
  /// take part. Throws CommError for an invalid rank, or if the communicator has only collectives.
  virtual Pending send(std::span<const std::byte> data, Address to, Phase phase);
  /// Receives a message that another rank sends by send().
  virtual Pending receive(std::span<std::byte> data, Address from, Phase phase);
  /// Starts a collective made of messages. As for any collective, all ranks start it in the same order.
  virtual Pending compose(Composite& composite, Phase phase);

  /// Divides the ranks into two parts: the last `last` ranks (1 to size() - 1), and all before them. All ranks must
  /// call it, once. Afterwards collectives and size() refer to this rank's part only. Roots, results of all_gather()
  /// and topologies count ranks from the first rank of the part. Messages can still be sent between all ranks of the
  /// job; rank() and host() do not change. Waits for all ranks, at most for `limit`. Throws CommError for an invalid
  /// number, or if the communicator does not support it.
  virtual void divide(int last, std::chrono::milliseconds limit);

  /// Prepares this process to end without waiting for other ranks, which may hang or have failed.
  virtual void abandon() noexcept = 0;
  /// Reports that this rank has failed. Returns true if it is the first such rank and should report the cause, so that
  /// a job reports one cause. Returns true also if no answer comes within seconds.
  [[nodiscard]] virtual bool claim_failure() noexcept { return true; }
  /// True once a Pending was abandoned. Its operation cannot be cancelled, so its memory must live until no more calls
  /// can write to it.
  [[nodiscard]] bool has_given_up() const { return has_given_up_; }

 protected:
  friend class Pending;
  /// Advances a collective. Returns true when it is done, and is then not called again. Throws CommError if it failed.
  [[nodiscard]] virtual bool poll(std::int64_t ticket) = 0;
  /// Ranks that have not reached this collective; empty if unknown.
  [[nodiscard]] virtual std::vector<int> missing(std::int64_t ticket) const = 0;

  /// Throws CommError unless `root` is a rank.
  void require_rank(int root, Phase phase) const;
  /// Throws CommError unless `all` bytes are `own` bytes for each rank.
  void require_parts(std::size_t own, std::size_t all, Phase phase) const;
  /// Throws CommError unless all_to_all() can exchange these buffers.
  void require_exchange(std::span<const std::byte> given, std::span<std::byte> taken, Phase phase) const;

 private:
  bool has_given_up_ = false;
};

/// Creates the communicator of this name from comm_list.h. Throws ConfigError, which lists the known names, for an
/// unknown name, and CommError if the communicator is not available.
[[nodiscard]] std::unique_ptr<Communicator> make_communicator(std::string_view name);

}  // namespace roentgen::dist
