// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks of rooted collectives and all_to_all on any communicator, for tests. All ranks of the group call each function
// together.
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
inline void expect_reduces(Communicator& group, std::chrono::milliseconds limit) {
  for (int root = 0; root < group.size(); ++root) {
    std::vector<float> values(1'003);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i + 1) + 0.5F * static_cast<float>(group.rank());
    const std::vector<float> before = values;
    group.reduce_sum(values, root, {"sum at a root"}).wait(limit);
    if (group.rank() != root) {
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
inline void expect_scatters_and_gathers(Communicator& group, std::chrono::milliseconds limit) {
  const auto size = static_cast<std::size_t>(group.size());
  for (int root = 0; root < group.size(); ++root) {
    const bool is_root = group.rank() == root;
    std::vector<std::byte> all;
    for (int to = 0; is_root && to < group.size(); ++to) all.insert(all.end(), 3, letter(root, to));
    std::array<std::byte, 3> own{};
    group.scatter(all, own, root, {"parts"}).wait(limit);
    for (const std::byte each : own) EXPECT_EQ(each, letter(root, group.rank())) << "root " << root;

    std::vector<std::byte> collected(is_root ? own.size() * size : 0);
    group.gather(own, collected, root, {"parts"}).wait(limit);
    EXPECT_EQ(collected, all) << "root " << root;
  }
}

/// Expects that all_to_all() sends a different part to every rank.
inline void expect_exchanges(Communicator& group, std::chrono::milliseconds limit) {
  constexpr std::size_t kBytes = 5;
  std::vector<std::byte> given, wanted;
  for (int other = 0; other < group.size(); ++other) {
    given.insert(given.end(), kBytes, letter(group.rank(), other));
    wanted.insert(wanted.end(), kBytes, letter(other, group.rank()));
  }
  std::vector<std::byte> taken(given.size());
  group.all_to_all(given, taken, {"exchange"}).wait(limit);
  EXPECT_EQ(taken, wanted);
  group.all_to_all({}, {}, {"exchange of nothing"}).wait(limit);
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
