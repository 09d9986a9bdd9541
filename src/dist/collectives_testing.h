// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks of rooted collectives and all_to_all on any communicator, for tests. All ranks of the group call each function
// together; after divide(), all ranks of one part do.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include "core/error.h"
#include "dist/communicator.h"

namespace roentgen::dist {

/// Returns the byte that rank `from` sends to rank `to`.
inline std::byte letter(int from, int to) { return static_cast<std::byte>(16 * from + to + 1); }

/// Expects that reduce() gives each root in turn the sums and leaves the values of other ranks unchanged.
/// @param first rank of the part, as in the functions below
inline void expect_reduces(Communicator& group, std::chrono::milliseconds limit, int first = 0) {
  const int own_rank = group.rank() - first;
  for (int root = 0; root < group.size(); ++root) {
    std::vector<float> values(1'003);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i + 1) + 0.5F * static_cast<float>(own_rank);
    const std::vector<float> before = values;
    group.reduce_sum(values, root, {"sum at a root"}).wait(limit);
    if (own_rank != root) {
      EXPECT_EQ(values, before) << "root " << root;
      continue;
    }
    const auto ranks = static_cast<float>(group.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(values[i], ranks * static_cast<float>(i + 1) + 0.25F * ranks * (ranks - 1.0F)) << i;
    }
  }
}

/// Expects that each root in turn can scatter its bytes and gather those of all ranks.
inline void expect_scatters_and_gathers(Communicator& group, std::chrono::milliseconds limit, int first = 0) {
  const int own_rank = group.rank() - first;
  const auto size = static_cast<std::size_t>(group.size());
  for (int root = 0; root < group.size(); ++root) {
    const bool is_root = own_rank == root;
    std::vector<std::byte> all;
    for (int to = 0; is_root && to < group.size(); ++to) all.insert(all.end(), 3, letter(root, to));
    std::array<std::byte, 3> own{};
    group.scatter(all, own, root, {"parts"}).wait(limit);
    for (const std::byte each : own) EXPECT_EQ(each, letter(root, own_rank)) << "root " << root;

    std::vector<std::byte> collected(is_root ? own.size() * size : 0);
    group.gather(own, collected, root, {"parts"}).wait(limit);
    EXPECT_EQ(collected, all) << "root " << root;
  }
}

/// Expects that all_to_all() sends a different part to every rank.
inline void expect_exchanges(Communicator& group, std::chrono::milliseconds limit, int first = 0) {
  const int own_rank = group.rank() - first;
  constexpr std::size_t kBytes = 5;
  std::vector<std::byte> given, wanted;
  for (int other = 0; other < group.size(); ++other) {
    given.insert(given.end(), kBytes, letter(own_rank, other));
    wanted.insert(wanted.end(), kBytes, letter(other, own_rank));
  }
  std::vector<std::byte> taken(given.size());
  group.all_to_all(given, taken, {"exchange"}).wait(limit);
  EXPECT_EQ(taken, wanted);
  group.all_to_all({}, {}, {"exchange of nothing"}).wait(limit);
}

/// Divides the last `last` ranks from the others. Expects that collectives then involve one part, and that messages
/// reach all ranks.
inline void expect_divides(Communicator& group, int last, std::chrono::milliseconds limit) {
  const int whole = group.size();
  for (const int none : {0, whole}) EXPECT_THROW(group.divide(none, limit), CommError);
  group.divide(last, limit);
  const int border = whole - last;
  const bool is_last = group.rank() >= border;
  const int first = is_last ? border : 0;
  EXPECT_EQ(group.size(), is_last ? last : border);
  expect_reduces(group, limit, first);
  expect_scatters_and_gathers(group, limit, first);
  expect_exchanges(group, limit, first);
  std::array<float, 1> rank{static_cast<float>(group.rank())};
  group.all_reduce_mean(rank, {"mean of a part"}).wait(limit);
  EXPECT_FLOAT_EQ(rank[0], static_cast<float>(2 * first + group.size() - 1) / 2.0F);

  const int other = is_last ? 0 : border;  // the first rank of each part has a message for the other one
  if (group.rank() != first) return;
  const std::array sent{letter(group.rank(), other)};
  std::array<std::byte, 1> got{};
  Pending receiving = group.receive(got, {.rank = other}, {"message to the other part"});
  group.send(sent, {.rank = other}, {"message to the other part"}).wait(limit);
  receiving.wait(limit);
  EXPECT_EQ(got[0], letter(other, group.rank()));
}

/// Expects errors for invalid root ranks and buffers of the wrong size, before anything is sent.
inline void expect_refuses_bad_arguments(Communicator& group) {
  std::array<float, 2> sums{};
  std::array<std::byte, 2> own{};
  std::vector<std::byte> all(2 * static_cast<std::size_t>(group.size()) + 1);
  for (const int root : {-1, group.size()}) {
    EXPECT_THROW(static_cast<void>(group.reduce_sum(sums, root, {"no root"})), CommError);
    EXPECT_THROW(static_cast<void>(group.scatter(all, own, root, {"no root"})), CommError);
    EXPECT_THROW(static_cast<void>(group.gather(own, all, root, {"no root"})), CommError);
  }
  EXPECT_THROW(static_cast<void>(group.scatter(all, own, group.rank(), {"another size"})), CommError);
  EXPECT_THROW(static_cast<void>(group.gather(own, all, group.rank(), {"another size"})), CommError);
  const auto bytes = std::span(all);
  EXPECT_THROW(static_cast<void>(group.all_to_all(bytes.first(all.size() - 1), bytes, {"another size"})), CommError);
  if (group.size() > 1) {
    std::vector<std::byte> other(all.size());
    EXPECT_THROW(static_cast<void>(group.all_to_all(all, other, {"no equal parts"})), CommError);
  }
}

}  // namespace roentgen::dist
