// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/run_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roentgen::train {
namespace {

using testing::HasSubstr;

TEST(SkippedNote, counts_what_uneven_files_leave_out) {
  EXPECT_THAT(skipped_note({.images = 360, .updates = 6, .images_per_update = 16, .ranks = 2}),
              HasSubstr("an epoch leaves out 264 of 360 training images (73%): all ranks stop with the rank that "
                        "has the fewest images"));
  EXPECT_THAT(skipped_note({.images = 360, .updates = 6, .images_per_update = 16}), HasSubstr("train.pipeline ends"));
  EXPECT_EQ(skipped_note({.images = 111, .updates = 6, .images_per_update = 16}), "") << "less than an update";
  EXPECT_EQ(skipped_note({.images = 90, .updates = 6, .images_per_update = 16}), "") << "filled up";
}

TEST(NetworkNote, names_the_way_out_where_every_epoch_reads_through_a_network) {
  EXPECT_EQ(network_note("NFS", "/data/nih", false),
            "/data/nih lies on NFS, and every epoch reads it again; to read it only once, use roentgen copy-local "
            "/data/nih DIR, or --cache-dir DIR with DIR on a disk of this host");
  EXPECT_THAT(network_note("NFS", "/my data", false), testing::HasSubstr("roentgen copy-local '/my data' DIR"));
  EXPECT_EQ(network_note("NFS", "/data/nih", true), "");
  EXPECT_EQ(network_note(nullptr, "/data/nih", false), "");
}

}  // namespace
}  // namespace roentgen::train
