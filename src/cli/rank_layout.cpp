// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/rank_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "core/error.h"

namespace roentgen::cli {
namespace {

constexpr std::int64_t kMostPerNode = 4096;

// Whole number from 0; -1 if the text is none.
std::int64_t number_in(const std::string& text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= 0 ? number : -1;
}

[[noreturn]] void refuse(std::string_view option, std::string_view expected, std::string_view got,
                         std::string_view remedy) {
  throw ConfigError(error_text("cli.launch", option, expected, got, remedy));
}

void set_ranks(const std::string& text, RankLayout& layout) {
  if (text == "socket") {
    layout.unit = runtime::CoreUnit::Socket;
  } else if (text == "numa") {
    layout.unit = runtime::CoreUnit::NumaNode;
  } else {
    layout.number = number_in(text);
    if (layout.number >= 1 && layout.number <= kMostPerNode) return;
    refuse("--ppn", fmt::format("socket, numa or a number from 1 to {}", kMostPerNode), text, "--ppn socket");
  }
}

}  // namespace

Option LayoutArguments::ranks_option(std::string doc) {
  return {.name = "--ppn", .target = &per_node, .doc = std::move(doc)};
}

std::vector<Option> LayoutArguments::communication_options(const std::string& doc) {
  return {{.name = "--comm-threads", .target = &comm_threads, .doc = doc},
          {.name = "--comm-cores", .target = &comm_cores, .doc = doc}};
}

RankLayout parse_layout(const LayoutArguments& arguments) {
  RankLayout layout;
  if (!arguments.per_node.empty()) set_ranks(arguments.per_node, layout);
  if (!arguments.comm_threads.empty()) {
    const std::int64_t threads = number_in(arguments.comm_threads);
    if (threads != 0 && threads != 1) {
      refuse("--comm-threads", "0 or 1, since one thread makes all calls to MPI", arguments.comm_threads,
             "--comm-threads 1");
    }
    layout.reserves_core = threads == 1;
  }
  if (arguments.comm_cores.empty()) return layout;
  layout.communication = runtime::parse_core_numbers(arguments.comm_cores);
  if (layout.reserves_core == false)
    refuse("--comm-cores", "a communication thread", "--comm-threads 0", "--comm-threads 1");
  return layout;
}

std::int64_t ranks_per_node(const RankLayout& layout, const runtime::CoreList& cores) {
  return layout.unit ? std::ssize(runtime::by_unit(cores, *layout.unit)) : layout.number;
}

HostList with_slots(HostList hosts, std::int64_t slots) {
  for (HostSlots& host : hosts) host.slots = slots;
  return hosts;
}

RankCores reserve_cores(const RankLayout& layout, const runtime::CoreList& usable, const dist::LaunchedRank& own,
                        bool is_divided) {
  RankCores cores;
  std::ranges::set_difference(usable, layout.communication, std::back_inserter(cores.rest));
  if (layout.communication.empty()) return cores;
  runtime::CoreList found;
  std::ranges::set_intersection(usable, layout.communication, std::back_inserter(found));
  const bool has_all = !is_divided || found.size() == layout.communication.size();
  if (found.empty() || cores.rest.empty() || !has_all) {
    cores.rest = usable;
    cores.problem = error_text("cli.launch", "--comm-cores",
                               fmt::format("some of the cores {} of {}, but not all", runtime::text_of(usable),
                                           is_divided ? "this host" : fmt::format("rank {}", own.rank)),
                               runtime::text_of(layout.communication), "--comm-threads 1");
    return cores;
  }
  cores.communication = is_divided && own.local_size > 0
                            ? runtime::shares_of(found, own.local_size).at(static_cast<std::size_t>(own.local_rank))
                            : found;
  return cores;
}

}  // namespace roentgen::cli
