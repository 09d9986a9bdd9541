// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Options of how gradients become updates: averaged among ranks, or by parameter servers (docs/adr/0032).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/option.h"

namespace roentgen::train {

struct TrainRecipe;

/// Ways from gradients to updates. Sync: all ranks average and update. Servers: parameter servers sum the gradients of
/// all workers and update. Async: they apply each worker's gradient as it comes.
enum class UpdateWay : std::uint8_t { Sync, Servers, Async };

/// Way, number of servers and bound of staleness.
struct ServerOptions {
  UpdateWay way = UpdateWay::Sync;  ///< sync: no servers
  /// The last ranks of the job are servers; 0 without servers.
  int servers = 0;
  /// Async: gradients older than this many versions of the shard are dropped.
  std::int64_t staleness = 16;

  /// Whether there are servers.
  [[nodiscard]] bool has_servers() const { return way != UpdateWay::Sync; }
  /// Whether workers do not wait for each other.
  [[nodiscard]] bool is_async() const { return way == UpdateWay::Async; }
};

/// "sync", "ps" or "async".
[[nodiscard]] std::string_view name_of(UpdateWay way);
/// The way of that name. ConfigError naming the known ones.
[[nodiscard]] UpdateWay parse_update_way(std::string_view name);
/// The way that a name of MXNet's key-value stores means: local, device and dist_device_sync are sync, dist_sync is ps,
/// dist_async is async. ConfigError naming the known ones.
[[nodiscard]] UpdateWay parse_kv_store(std::string_view name);

/// "--update ps --servers 2", for messages and comparisons of ranks.
[[nodiscard]] std::string text_of(const ServerOptions& options);

/// Options as a command line gives them.
struct ServerArguments {
  std::string update;           ///< name of a way; empty: as `kv_store` says, else sync
  std::string kv_store;         ///< MXNet's name of a way; empty: none
  std::int64_t servers = 0;     ///< 0: one, where the way has servers
  std::int64_t staleness = -1;  ///< negative: the default

  /// --update, --servers, --staleness and --kv-store, bound to this object's members.
  [[nodiscard]] std::vector<Option> options();
};
/// ConfigError where the arguments do not go together.
[[nodiscard]] ServerOptions parse_server_options(const ServerArguments& arguments);
/// Throws ConfigError if no worker is left of the ranks, or if servers cannot train by the recipe. They cannot with a
/// loss scale, because each server sees a part of an overflow. Asynchronous workers cannot share a batch norm, because
/// they do not wait for each other.
void check_server_recipe(const ServerOptions& options, const TrainRecipe& recipe, int ranks);
/// ConfigError where servers are to be with NCCL, which averages and sends no messages.
/// @param reduce as --reduce
void refuse_nccl_servers(const ServerOptions& options, std::string_view reduce);

}  // namespace roentgen::train
