// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_binding.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cli/rank_cards.h"
#include "cli/rank_warnings.h"
#include "core/error.h"
#include "core/log.h"
#include "core/plural.h"
#include "dist/comm_thread.h"
#include "dist/launch_board.h"
#include "io/environment.h"
#include "runtime/cores.h"
#include "runtime/cpu_quota.h"
#include "runtime/placement.h"
#include "train/ranks.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

// Binds the process to the cores `rest`; the cores `communication` remain for its communication thread.
void part(const runtime::CoreList& rest, runtime::CoreList communication, Binding& binding) {
  runtime::bind_process(rest);
  // caches the cores of the process before a thread is bound to fewer cores
  static_cast<void>(runtime::available_cores());
  static_cast<void>(runtime::cores_of_process());
  binding.communication = std::move(communication);
}

std::string no_core_text(std::string_view expected, const runtime::CoreList& cores) {
  return error_text("cli.launch", "--comm-threads 1", expected, runtime::text_of(cores),
                    "a smaller --ranks, mpirun --map-by slot:PE=K, or --comm-threads 0");
}

}  // namespace

AskedDevice asked_device(const RankOptions& options) {
  AskedDevice asked;
  if (!options.recipe) return asked;
  asked.device = engine::resolve_device(engine::parse_device(options.recipe().device));
  if (!asked.device.is_host()) asked.cards = runtime::find_cuda_devices();
  return asked;
}

AskedDevice asked_device_or_host(const RankOptions& options) {
  try {
    return asked_device(options);
  } catch (const Error&) {
    return {};
  }
}

Binding take_place(const RankOptions& options, const RankLayout& layout, const dist::LaunchedRank& own,
                   const AskedDevice& asked, bool is_server) {
  const bool is_divided = is_own_rank() && own.local_size > 0;
  RankCores reserved = reserve_cores(layout, runtime::usable_cores(), own, is_divided);
  Binding binding;
  if (is_divided) {
    if (layout.unit) binding.host_units = static_cast<int>(runtime::by_unit(reserved.rest, *layout.unit).size());
    CoreShare share = own_share(reserved.rest, own, asked.device, asked.cards, layout.unit);
    binding.why_equal = std::move(share.why_equal);
    reserved.rest = runtime::cores_within_quota(share.cores, runtime::cpu_quota_cores(), own.local_size);
    runtime::bind_process(reserved.rest);
  }
  binding.problem = std::move(reserved.problem);
  if (!binding.problem.empty()) return binding;
  if (!reserved.communication.empty()) {
    part(reserved.rest, std::move(reserved.communication), binding);
    return binding;
  }
  if (!options.recipe || is_server || layout.reserves_core == false) return binding;
  const bool must_reserve = layout.reserves_core.value_or(false);
  const runtime::CoreList own_cores = runtime::usable_cores();
  const std::vector<runtime::CoreList> cores = runtime::by_physical_core(own_cores);
  if (!runtime::are_own(cores, own.local_size)) {
    if (must_reserve) binding.problem = no_core_text("cores that no other rank uses", own_cores);
    return binding;
  }
  runtime::Placement placement = runtime::place(
      cores,
      {.has_communication = true, .must_reserve = must_reserve, .threads = train::asked_threads(options.recipe())});
  if (!placement.communication.empty()) {
    part(placement.compute, std::move(placement.communication), binding);
  } else if (must_reserve) {
    binding.problem = no_core_text("at least two cores for the rank", own_cores);
  }
  return binding;
}

RankPlace own_place(const RankOptions& options, const dist::LaunchedRank& launched, const AskedDevice& asked,
                    const Binding& binding) {
  if (!binding.problem.empty()) throw ConfigError(binding.problem);
  RankPlace own{.cores = runtime::usable_cores(), .communication = binding.communication};
  own.host_units = binding.host_units;
  own.why_equal = binding.why_equal;
  own.physical = first_threads(own.cores);
  if (const auto quota = runtime::cpu_quota_cores()) own.quota_cores = *quota;
  own.sockets = static_cast<int>(runtime::by_unit(own.cores, runtime::CoreUnit::Socket).size());
  set_card(asked.device, launched, asked.cards, own);
  if (options.recipe) own.input = train::train_cores(options.recipe()).input;
  own.threads = options.threads  ? options.threads()
                : options.recipe ? train::compute_threads(options.recipe())
                                 : runtime::default_compute_threads();
  return own;
}

void check_places(dist::CommThread& group, const RankOptions& options, const RankPlace& own) {
  const train::Ranks ranks(&group);
  const std::string version = fmt::format("{} ({})", io::program_version(), io::program_commit());
  const std::string other = version_error(ranks.gather(version, {.name = "program versions"}), group.hosts());
  if (!other.empty()) throw ConfigError(other);
  const std::vector<std::string> all = ranks.gather(bytes_of(own), {.name = "places"});
  std::vector<RankPlace> places;
  std::map<std::string, std::vector<RankPlace>> by_host;
  std::string map;
  const RankLayout layout = parse_layout(options.layout);
  bool is_shown = layout.is_asked();
  for (int rank = 0; rank < group.size(); ++rank) {
    const RankPlace& place = places.emplace_back(parse_rank_place(all[static_cast<std::size_t>(rank)]));
    const std::string& host = group.hosts()[static_cast<std::size_t>(rank)];
    by_host[host].push_back(place);
    is_shown = is_shown || !place.card.empty();
    map += fmt::format("{}{} on {}, {}", map.empty() ? "" : "; ", rank, host, text_of(place));
  }
  for (const auto& [host, own_places] : by_host) {
    const int most = most_threads(own_places);
    int count = 0;
    for (const RankPlace& place : own_places) count += place.threads;
    if (count <= most) continue;
    if (!options.may_oversubscribe) {
      throw ConfigError(error_text(
          "cli.launch", "ranks on " + host,
          fmt::format("at most {}, one per physical core within the CPU quota", counted(most, "compute thread")),
          fmt::to_string(count),
          "a smaller --ranks, OMP_NUM_THREADS=1, mpirun --map-by slot:PE=K, or --oversubscribe"));
    }
    if (group.rank() == 0)
      log::warning(fmt::format("{} compute threads on {} of {}", count, counted(most, "core"), host));
  }
  if (group.rank() != 0) return;
  log::write(is_shown ? log::Level::Info : log::Level::Debug, "ranks: " + map);
  log_warnings({.places = places, .hosts = group.hosts()}, layout);
}

void warn_of_idle_cards(const RankOptions& options) {
  const AskedDevice asked = asked_device_or_host(options);
  std::vector<RankPlace> places(1);
  set_card(asked.device, std::nullopt, asked.cards, places.front());
  const std::vector<std::string> hosts{dist::own_host()};
  const std::string warning = idle_card_warning({.places = places, .hosts = hosts});
  if (!warning.empty()) log::warning(warning);
}

}  // namespace roentgen::cli
