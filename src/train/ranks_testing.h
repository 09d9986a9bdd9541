// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests: ranks that are threads of the test.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "dist/comm_thread.h"
#include "dist/local_group_testing.h"

namespace roentgen::train {

/// Timeout for waits that should never reach it.
inline constexpr std::chrono::milliseconds kLimit{60'000};

/// Runs `body` on all ranks of a group, with one thread per rank.
/// @return exception of each rank; null if it threw none
inline std::vector<std::exception_ptr> as_ranks(dist::LocalGroup& group,
                                                const std::function<void(dist::CommThread&)>& body,
                                                std::chrono::milliseconds limit = kLimit) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(group.size()));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < group.size(); ++rank) {
      threads.emplace_back([&, rank] {
        try {
          dist::CommThread comm([&] { return group.member(rank); }, limit);
          body(comm);
        } catch (...) {
          errors[static_cast<std::size_t>(rank)] = std::current_exception();
        }
      });
    }
  }
  return errors;
}

/// Runs `body` on `ranks` ranks of a new group.
/// @param hosts host name of each rank; if empty, all are "here"
inline std::vector<std::exception_ptr> as_ranks(int ranks, const std::function<void(dist::CommThread&)>& body,
                                                std::chrono::milliseconds limit = kLimit,
                                                const std::vector<std::string>& hosts = {}) {
  dist::LocalGroup group(ranks, hosts);
  return as_ranks(group, body, limit);
}

/// Text of the exception; empty for null.
inline std::string text_of(const std::exception_ptr& error) {
  if (!error) return "";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
}

/// Expects that no rank threw an exception.
inline void expect_none(const std::vector<std::exception_ptr>& errors) {
  for (const auto& error : errors) EXPECT_EQ(text_of(error), "");
}

}  // namespace roentgen::train
