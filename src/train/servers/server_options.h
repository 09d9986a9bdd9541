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

/// Update mode. Sync: all ranks average gradients and update. Servers: parameter servers average the gradients of all
/// workers and update. Async: parameter servers apply each gradient of a worker when it arrives.
enum class UpdateWay : std::uint8_t { Sync, Servers, Async };

/// Update mode, number of servers and limit of staleness.
struct ServerOptions {
  UpdateWay way = UpdateWay::Sync;  ///< sync: no servers
  /// Number of servers, which are the last ranks of the job; 0 without servers.
  int servers = 0;
  /// Async: gradients computed from weights older than this number of versions are dropped.
  std::int64_t staleness = 16;

  /// True if the job has servers.
  [[nodiscard]] bool has_servers() const { return way != UpdateWay::Sync; }
  /// True if workers do not wait for each other.
  [[nodiscard]] bool is_async() const { return way == UpdateWay::Async; }
};

/// Name of an update mode: "sync", "ps" or "async".
[[nodiscard]] std::string_view name_of(UpdateWay way);
/// Parses a name of an update mode. Throws ConfigError, which lists the known names.
[[nodiscard]] UpdateWay parse_update_way(std::string_view name);
/// Parses a name of MXNet's key-value stores: local, device and dist_device_sync mean sync, dist_sync means ps,
/// dist_async means async. Throws ConfigError, which lists the known names.
[[nodiscard]] UpdateWay parse_kv_store(std::string_view name);

/// Formats the options, such as "--update ps --servers 2", for messages and for comparing ranks.
[[nodiscard]] std::string text_of(const ServerOptions& options);

/// Returns a log line with the numbers of workers and servers.
/// @param ranks number of workers and servers together
[[nodiscard]] std::string parts_text(const ServerOptions& options, int ranks);

/// Values of the command-line options.
struct ServerArguments {
  std::string update;           ///< name of an update mode; if empty, `kv_store` decides, else sync
  std::string kv_store;         ///< MXNet's name of an update mode; may be empty
  std::int64_t servers = 0;     ///< number of servers; 0 means 1 if the update mode has servers
  std::int64_t staleness = -1;  ///< negative: the default

  /// Returns the options --update, --servers, --staleness and --kv-store, which set the members of this object.
  [[nodiscard]] std::vector<Option> options();
};
/// Converts the arguments to options. Throws ConfigError if they contradict each other.
[[nodiscard]] ServerOptions parse_server_options(const ServerArguments& arguments);
/// Throws ConfigError if the ranks include no worker, or if servers cannot train by the recipe. They cannot use a loss
/// scale, because each server sees only a part of an overflow. Asynchronous workers cannot share batch statistics,
/// because they do not wait for each other.
void check_server_recipe(const ServerOptions& options, const TrainRecipe& recipe, int ranks);
/// Throws ConfigError for servers with --reduce nccl, because NCCL only averages and sends no messages. Also refuses a
/// --wire other than f32, because servers receive and add f32.
/// @param reduce value of --reduce
/// @param wire value of --wire
void check_server_messages(const ServerOptions& options, std::string_view reduce, std::string_view wire);

}  // namespace roentgen::train
