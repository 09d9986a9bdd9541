// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/servers/server_options.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/error.h"
#include "core/plural.h"
#include "dist/reduce/reducer.h"
#include "engine/compute_type.h"
#include "train/ranks.h"
#include "train/recipe.h"

namespace roentgen::train {
namespace {

using Named = std::pair<std::string_view, UpdateWay>;

constexpr std::array kWays{Named{"sync", UpdateWay::Sync}, Named{"ps", UpdateWay::Servers},
                           Named{"async", UpdateWay::Async}};
constexpr std::array kStores{Named{"local", UpdateWay::Sync}, Named{"device", UpdateWay::Sync},
                             Named{"dist_sync", UpdateWay::Servers}, Named{"dist_device_sync", UpdateWay::Sync},
                             Named{"dist_async", UpdateWay::Async}};

template <std::size_t N>
UpdateWay find(const std::array<Named, N>& known, std::string_view option, std::string_view name) {
  std::string names;
  for (const auto& [each, way] : known) {
    if (each == name) return way;
    names += (names.empty() ? "" : ", ") + std::string(each);
  }
  throw ConfigError(error_text("train.servers", option, names, name, "one of these names"));
}

}  // namespace

std::string_view name_of(UpdateWay way) { return kWays.at(static_cast<std::size_t>(way)).first; }

UpdateWay parse_update_way(std::string_view name) { return find(kWays, "--update", name); }

UpdateWay parse_kv_store(std::string_view name) { return find(kStores, "--kv-store", name); }

std::vector<Option> ServerArguments::options() {
  // The help prints options with equal texts on one line.
  constexpr const char* kWayDoc = "sync, or with parameter servers: ps, async; the same by MXNet's names";
  constexpr const char* kServersDoc = "parameter servers: default 1; updates a gradient may lag: default 16";
  return {{.name = "--update", .target = &update, .doc = kWayDoc},
          {.name = "--servers", .target = &servers, .doc = kServersDoc, .range = {0, 65535}},
          {.name = "--staleness", .target = &staleness, .doc = kServersDoc, .range = {0, 1e9}},
          {.name = "--kv-store", .target = &kv_store, .doc = kWayDoc}};
}

std::string text_of(const ServerOptions& options) {
  std::string text = fmt::format("--update {}", name_of(options.way));
  if (options.has_servers()) text += fmt::format(" --servers {}", options.servers);
  if (options.is_async()) text += fmt::format(" --staleness {}", options.staleness);
  return text;
}

std::string parts_text(const ServerOptions& options, int ranks) {
  return fmt::format("{}: {} and {} ({})", ranks_text(ranks), counted(ranks - options.servers, "worker"),
                     counted(options.servers, "parameter server"), text_of(options));
}

ServerOptions parse_server_options(const ServerArguments& arguments) {
  if (!arguments.update.empty() && !arguments.kv_store.empty()) {
    throw ConfigError(
        error_text("train.servers", "--update or --kv-store", "one of these options", "both", "only --update"));
  }
  ServerOptions options;
  if (!arguments.update.empty()) options.way = parse_update_way(arguments.update);
  if (!arguments.kv_store.empty()) options.way = parse_kv_store(arguments.kv_store);
  if (!options.has_servers() && arguments.servers > 0) {
    throw ConfigError(error_text("train.servers", "--servers", "an --update with servers", name_of(options.way),
                                 "--update ps or --update async"));
  }
  if (!options.is_async() && arguments.staleness >= 0) {
    throw ConfigError(error_text("train.servers", "--staleness", "an --update that accepts old gradients",
                                 name_of(options.way), "--update async"));
  }
  if (options.has_servers()) options.servers = arguments.servers > 0 ? static_cast<int>(arguments.servers) : 1;
  if (arguments.staleness >= 0) options.staleness = arguments.staleness;
  return options;
}

void check_server_recipe(const ServerOptions& options, const TrainRecipe& recipe, int ranks) {
  if (options.has_servers() && ranks <= options.servers) {
    throw ConfigError(error_text("train.servers", "--servers", fmt::format("fewer than the {}", ranks_text(ranks)),
                                 fmt::to_string(options.servers), "more --ranks (workers and servers together)"));
  }
  if (options.has_servers() && recipe.dtype == name_of(DType::F16)) {
    throw ConfigError(error_text("train.servers", "train.dtype", "a dtype without a loss scale, such as bf16", "f16",
                                 "--dtype bf16, or --update sync"));
  }
  if (options.is_async() && recipe.batch_norm == "sync") {
    throw ConfigError(error_text("train.servers", "train.batch_norm",
                                 "local, because --update async lets no rank wait for another", "sync",
                                 "train.batch_norm=local, or --update ps"));
  }
}

void check_server_messages(const ServerOptions& options, std::string_view reduce, std::string_view wire) {
  if (!options.has_servers()) return;
  const std::string update = fmt::format("--update {}", name_of(options.way));
  if (reduce == dist::kNcclReduce) {
    throw ConfigError(error_text("train.servers", update, "a --reduce that sends messages to servers", "--reduce nccl",
                                 "--reduce auto, or --update sync"));
  }
  if (wire != name_of(DType::F32)) {
    throw ConfigError(error_text("train.servers", update, "--wire f32, the format that servers add",
                                 fmt::format("--wire {}", wire), "--wire f32, or --update sync"));
  }
}

}  // namespace roentgen::train
