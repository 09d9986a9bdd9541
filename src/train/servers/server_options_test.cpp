// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/servers/server_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "train/recipe.h"

namespace roentgen::train {
namespace {

std::string refusal(const ServerArguments& arguments) {
  try {
    return "no refusal of " + text_of(parse_server_options(arguments));
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST(ServerOptions, are_averaging_among_ranks_by_default) {
  EXPECT_EQ(text_of(parse_server_options({})), "--update sync");
  EXPECT_EQ(parse_server_options({}).servers, 0);
}

TEST(ServerOptions, have_one_server_and_a_staleness_of_16_by_default) {
  EXPECT_EQ(text_of(parse_server_options({.update = "ps"})), "--update ps --servers 1");
  EXPECT_EQ(text_of(parse_server_options({.update = "async"})), "--update async --servers 1 --staleness 16");
  EXPECT_EQ(text_of(parse_server_options({.update = "async", .servers = 3, .staleness = 0})),
            "--update async --servers 3 --staleness 0");
}

TEST(ServerOptions, name_the_numbers_of_workers_and_servers) {
  EXPECT_EQ(parts_text(parse_server_options({.kv_store = "dist_sync"}), 2),
            "2 ranks: 1 worker and 1 parameter server (--update ps --servers 1)");
  EXPECT_EQ(parts_text(parse_server_options({.update = "ps", .servers = 2}), 5),
            "5 ranks: 3 workers and 2 parameter servers (--update ps --servers 2)");
}

TEST(ServerOptions, know_the_names_of_mxnet) {
  for (const char* name : {"local", "device", "dist_device_sync"}) {
    EXPECT_EQ(parse_server_options({.kv_store = name}).way, UpdateWay::Sync) << name;
  }
  EXPECT_EQ(parse_server_options({.kv_store = "dist_sync", .servers = 2}).way, UpdateWay::Servers);
  EXPECT_EQ(parse_server_options({.kv_store = "dist_async"}).way, UpdateWay::Async);
}

TEST(ServerOptions, are_refused_where_they_do_not_go_together) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal({.update = "later"}), HasSubstr("--update: expected sync, ps, async, got later"));
  EXPECT_THAT(refusal({.kv_store = "nccl"}), HasSubstr("--kv-store: expected local, device, dist_sync"));
  EXPECT_THAT(refusal({.update = "ps", .kv_store = "dist_sync"}), HasSubstr("expected one of these options, got both"));
  EXPECT_THAT(refusal({.servers = 1}), HasSubstr("--servers: expected an --update with servers, got sync"));
  EXPECT_THAT(refusal({.update = "ps", .staleness = 4}),
              HasSubstr("--staleness: expected an --update that accepts old gradients"));
}

TEST(ServerOptions, refuse_recipes_that_servers_cannot_train_by) {
  const auto refused = [](const char* way, const TrainRecipe& recipe) -> std::string {
    try {
      check_server_recipe(parse_server_options({.update = way}), recipe, 2);
      return "";
    } catch (const ConfigError& error) {
      return error.what();
    }
  };
  for (const char* way : {"ps", "async"}) {
    EXPECT_EQ(refused(way, {.dtype = "f16"}),
              "[train.servers] train.dtype: expected a dtype without a loss scale, such as bf16, got f16; try --dtype "
              "bf16, or "
              "--update sync");
    EXPECT_EQ(refused(way, {.dtype = "bf16"}), "");
  }
  EXPECT_EQ(refused("sync", {.dtype = "f16", .batch_norm = "sync"}), "");
  EXPECT_EQ(refused("ps", {.batch_norm = "sync"}), "");
  EXPECT_THAT(refused("async", {.batch_norm = "sync"}),
              testing::HasSubstr("try train.batch_norm=local, or --update ps"));
}

TEST(ServerOptions, refuse_nccl_and_16_bit_messages_beside_servers_alone) {
  for (const char* way : {"ps", "async"}) {
    try {
      check_server_messages(parse_server_options({.update = way}), "nccl", "f32");
      ADD_FAILURE() << "no refusal of " << way;
    } catch (const ConfigError& error) {
      const std::string wanted =
          std::string("--update ") + way + ": expected a --reduce that sends messages to servers, got ";
      EXPECT_THAT(error.what(), testing::HasSubstr(wanted + "--reduce nccl"));
    }
    try {
      check_server_messages(parse_server_options({.update = way}), "auto", "bf16");
      ADD_FAILURE() << "no refusal of " << way;
    } catch (const ConfigError& error) {
      const std::string wanted =
          std::string("--update ") + way + ": expected --wire f32, the format that servers add, ";
      EXPECT_THAT(error.what(), testing::HasSubstr(wanted + "got --wire bf16; try --wire f32, or --update sync"));
    }
    EXPECT_NO_THROW(check_server_messages(parse_server_options({.update = way}), "auto", "f32"));
  }
  EXPECT_NO_THROW(check_server_messages(parse_server_options({}), "nccl", "f32"));
  EXPECT_NO_THROW(check_server_messages(parse_server_options({}), "auto", "f16"));
}

}  // namespace
}  // namespace roentgen::train
