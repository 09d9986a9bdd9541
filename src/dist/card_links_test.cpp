// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Measures links between emulated devices, with an imitation of NCCL. Ranks are threads.
#include "dist/card_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "dist/local_group_testing.h"
#include "dist/mailbox_testing.h"
#include "dist/nccl_twin_testing.h"

namespace roentgen::dist {
namespace {

using testing::HasSubstr;

/// Measures on `ranks` ranks with devices of these names. Returns the error text of each rank; empty if it threw none.
std::vector<std::string> measure(const std::vector<std::string>& ids, std::vector<CardLinks>& found) {
  const int ranks = static_cast<int>(ids.size());
  LocalGroup group(ranks);
  Mailboxes boxes(ranks);
  std::vector<std::string> thrown(ids.size());
  found.resize(ids.size());
  std::vector<std::jthread> threads;
  for (std::size_t rank = 0; rank < ids.size(); ++rank) {
    threads.emplace_back([&, rank] {
      runtime::TwinDevice twin;
      MailboxMember own(boxes, group, static_cast<int>(rank), static_cast<unsigned>(rank));
      try {
        found[rank] = measure_card_links(
            own,
            {.device = twin, .id = ids[rank], .make_nccl = [] { return std::make_unique<NcclTwin>(twin_device()); }},
            {.bytes = 4000, .times = 2});
      } catch (const Error& error) {
        thrown[rank] = error.what();
      }
    });
  }
  threads.clear();
  return thrown;
}

TEST(CardLinks, of_several_ranks_have_bandwidth_and_latency) {
  std::vector<CardLinks> found;
  for (const std::string& text : measure({"twin:0", "twin:1", "twin:2"}, found)) EXPECT_EQ(text, "");
  for (const CardLinks& links : found) {
    EXPECT_EQ(links.library, "NCCL twin");
    EXPECT_GT(links.bytes_per_s, 0.0);
    EXPECT_GT(links.latency_s, 0.0);
    EXPECT_LT(links.latency_s, 60.0);
  }
}

TEST(CardLinks, of_ranks_that_share_a_device_are_refused) {
  std::vector<CardLinks> found;
  for (const std::string& text : measure({"twin:0", "twin:0"}, found)) EXPECT_THAT(text, HasSubstr("on the same GPU"));
}

}  // namespace
}  // namespace roentgen::dist
