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

/// A collective under way. Move-only; of the communicator's thread. The memory given to the collective must live and be
/// left alone until it is done. One destroyed before that cannot be taken back: it logs an error.
class [[nodiscard]] Pending {
 public:
  /// Creates one with nothing to wait for.
  Pending() = default;
  /// For communicators: waits for collective `ticket` of `owner`, which must outlive this; below 0, for a message.
  Pending(Communicator& owner, std::int64_t ticket, Phase phase) : owner_(&owner), ticket_(ticket), phase_(phase) {}
  Pending(Pending&& other) noexcept;             ///< takes over the collective
  Pending& operator=(Pending&& other) noexcept;  ///< takes over the collective; logs an error where one was under way
  ~Pending();

  /// Advances the collective; true when it is done. CommError when it failed.
  [[nodiscard]] bool is_done();
  /// Polls and yields until the collective is done. After `limit`, throws CommError as give_up().
  void wait(std::chrono::milliseconds limit);
  /// Throws CommError naming the phase, the limit that is past, and the ranks that are missing, with their hosts. From
  /// then on the communicator has_given_up().
  [[noreturn]] void give_up(std::chrono::milliseconds limit);
  /// give_up() for another reason than time: the error has the reason in place of the limit.
  [[noreturn]] void fail(const std::string& reason);
  /// Abandons it silently: for parts of a collective whose failure was reported.
  void forget() noexcept { owner_ = nullptr; }

 private:
  [[noreturn]] void abandon(const std::string& expected, const std::string& got);

  Communicator* owner_ = nullptr;  ///< null when done
  std::int64_t ticket_ = 0;
  Phase phase_;
};

/// The other end of a message. Between two ranks, messages of one tag arrive in the order they were sent.
struct Address {
  int rank = 0;  ///< the other end
  /// 0 to kUserTags - 1; higher tags belong to composites.
  int tag = 0;
};
inline constexpr int kUserTags = 1024;  ///< tags below it belong to callers

/// A collective made of messages. Of the communicator's thread; must outlive its Pending.
class Composite {
 public:
  /// Number of consecutive tags reserved for a composite.
  static constexpr int kTags = 16;
  virtual ~Composite() = default;
  /// Starts and polls its messages; true once all is done, and then not called again. The first call starts it.
  /// @param tag the first of its tags, the same on all ranks
  [[nodiscard]] virtual bool advance(int tag) = 0;
};

/// One process's end of a group of ranks, all those of its job unless divide() was called. All ranks must start the
/// same collectives in the same order with the same sizes. One thread: every call, and every Pending, belongs to the
/// thread that made it. Starting and polling allocate nothing.
class Communicator {
 public:
  virtual ~Communicator() = default;
  /// Name of the implementation in comm_list.h.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Number of this rank in the job: 0 to size() - 1, also after divide() for all but the last ranks.
  [[nodiscard]] virtual int rank() const = 0;
  /// Number of ranks that collectives are of, at least 1.
  [[nodiscard]] virtual int size() const = 0;
  /// Position among the ranks of this host, from 0: picks devices and cores.
  [[nodiscard]] virtual int local_rank() const = 0;
  /// Ranks of this host, at least 1: they share its memory.
  [[nodiscard]] virtual int local_size() const = 0;
  /// Name of the host that a rank runs on; of every rank known here.
  [[nodiscard]] virtual std::string_view host(int rank) const = 0;

  /// `data` of `root` goes to all others. CommError for a root that is no rank.
  virtual Pending broadcast(std::span<std::byte> data, int root, Phase phase) = 0;
  /// Replaces `data` on every rank by the sum over ranks. Gives the same bits on all ranks, and for the same ranks
  /// every time.
  virtual Pending all_reduce_sum(std::span<float> data, Phase phase) = 0;
  virtual Pending all_reduce_sum(std::span<double> data, Phase phase) = 0;  ///< all_reduce_sum() in double
  /// Averages: all_reduce_sum divided by size().
  virtual Pending all_reduce_mean(std::span<float> data, Phase phase) = 0;
  /// `all` becomes the `own` of every rank, in rank order: size() * own.size() bytes, else CommError. `own` may be this
  /// rank's part of `all`.
  virtual Pending all_gather(std::span<const std::byte> own, std::span<std::byte> all, Phase phase) = 0;
  /// `data` of `root` becomes the sum over ranks; that of the others stays as it is. The same bits for the same ranks
  /// every time. CommError for a root that is no rank.
  virtual Pending reduce_sum(std::span<float> data, int root, Phase phase) = 0;
  /// `own` of every rank becomes its part of the root's `all`, in rank order. That has size() * own.size() bytes, else
  /// CommError; other ranks' `all` is not read. CommError for a root that is no rank.
  virtual Pending scatter(std::span<const std::byte> all, std::span<std::byte> own, int root, Phase phase) = 0;
  /// The root's `all` becomes the `own` of every rank, in rank order: size() * own.size() bytes there, else CommError;
  /// other ranks' `all` is not written. CommError for a root that is no rank.
  virtual Pending gather(std::span<const std::byte> own, std::span<std::byte> all, int root, Phase phase) = 0;
  /// Part i of `given` goes to rank i, where it becomes part rank() of `taken`. Both have size() parts of equal size
  /// and do not overlap; CommError unless they are of one size that size() divides.
  virtual Pending all_to_all(std::span<const std::byte> given, std::span<std::byte> taken, Phase phase) = 0;
  /// Done when every rank has started it.
  virtual Pending barrier(Phase phase) = 0;

  /// A message to another rank, which receives as many bytes from this one under the same tag. It is no collective:
  /// only the two ranks take part. Throws CommError for an invalid rank, and from communicators that only have
  /// collectives.
  virtual Pending send(std::span<const std::byte> data, Address to, Phase phase);
  /// The receiving end of send().
  virtual Pending receive(std::span<std::byte> data, Address from, Phase phase);
  /// Starts a collective of messages, which counts as any other: all ranks, the same order, missing ranks named.
  virtual Pending compose(Composite& composite, Phase phase);

  /// Divides the ranks in two: the last `last` ones (1 to size() - 1), and those before. All ranks must call it, once.
  /// From then on collectives are of this rank's part alone, and size() is the part's. Roots, results of all_gather()
  /// and topologies count ranks from the part's first. Messages still go between all ranks of the job, which keep their
  /// numbers and hosts. Waits for all ranks, at most as long as `limit` says. Throws CommError for another number, and
  /// from communicators that cannot.
  virtual void divide(int last, std::chrono::milliseconds limit);

  /// Prepares this process to end without waiting for the others, which may never reach that point.
  virtual void abandon() noexcept = 0;
  /// Reports that this rank has failed, and asks whether it may name the cause. True for the first rank that asks, so
  /// that a job ends with one cause, and when no answer comes within seconds.
  [[nodiscard]] virtual bool claim_failure() noexcept { return true; }
  /// True once a Pending was abandoned. Its operation cannot be cancelled, so its memory must live until no more calls
  /// can write to it.
  [[nodiscard]] bool has_given_up() const { return has_given_up_; }

 protected:
  friend class Pending;
  /// Drives a collective; true once it is done, and then not asked again. CommError when it failed.
  [[nodiscard]] virtual bool poll(std::int64_t ticket) = 0;
  /// Ranks that have not reached this collective; may be empty when that cannot be known.
  [[nodiscard]] virtual std::vector<int> missing(std::int64_t ticket) const = 0;

  /// CommError unless `root` is a rank.
  void require_rank(int root, Phase phase) const;
  /// CommError unless a buffer of all ranks has `all` bytes, `own` for each.
  void require_parts(std::size_t own, std::size_t all, Phase phase) const;
  /// CommError unless all_to_all() can exchange these.
  void require_exchange(std::span<const std::byte> given, std::span<std::byte> taken, Phase phase) const;

 private:
  bool has_given_up_ = false;
};

/// The communicator of that name from comm_list.h. ConfigError naming the known ones; CommError when it cannot be had.
[[nodiscard]] std::unique_ptr<Communicator> make_communicator(std::string_view name);

}  // namespace roentgen::dist
