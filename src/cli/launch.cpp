// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "bench/stop_error.h"
#include "cli/device_threads.h"
#include "cli/failure.h"
#include "cli/held_signals.h"
#include "cli/launcher.h"
#include "cli/mpirun_command.h"
#include "cli/mpirun_words.h"
#include "cli/own_arguments.h"
#include "cli/rank_binding.h"
#include "cli/rank_cards.h"
#include "cli/rank_guard.h"
#include "cli/rank_start.h"
#include "cli/standard_output.h"
#include "cli/stop_signals.h"
#include "cli/watchdog.h"
#include "core/error.h"
#include "core/log.h"
#include "core/terminal.h"
#include "dist/comm_thread.h"
#include "dist/gpu_network.h"
#include "dist/launch_board.h"
#include "dist/launched.h"
#include "dist/mpi_choice.h"
#include "dist/mpi_library.h"
#include "dist/reduce/reducer.h"
#include "io/file.h"
#include "io/json.h"
#include "runtime/cache_folder.h"
#include "runtime/core_list.h"
#include "runtime/placement.h"
#include "train/ranks.h"

namespace roentgen::cli {
namespace {

void drop_standard_output() {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::close(nowhere);
}

// Returns this program's exit code (command.h) for the end of a group. Codes of mpirun and of signals become kFailure.
int exit_code_of(const GroupEnd& end) {
  return end.exit_code >= kSuccess && end.exit_code <= kStopped ? end.exit_code : kFailure;
}

// Silences this rank, which would repeat the output of rank 0. With --tag-output it still logs.
void be_silent(bool is_tagged) {
  drop_standard_output();
  if (!is_tagged) log::set_level(log::Level::Error);
}

// Options with equal texts share a line of the help.
constexpr const char* kHostsDoc = "hosts and ranks on each: a:2,b:2; or read from: slurm, pbs or FILE";
constexpr const char* kSharingDoc = "allow more threads than cores; several processes on one GPU";

}  // namespace

bool is_own_rank() { return std::getenv(kStartedByUs) != nullptr; }

std::vector<Option> RankOptions::options() {
  return {{.name = "--ranks",
           .target = &asked_ranks,
           .doc = "ranks (processes) for mpirun to start; auto: one per GPU; 0: no mpirun",
           .value_name = "N|auto"},
          {.name = "--hosts", .target = &hosts, .doc = kHostsDoc},
          {.name = "--hosts-from", .target = &hosts_from, .doc = kHostsDoc},
          layout.ranks_option("ranks per host: N, or one per socket (socket) or NUMA node (numa)"),
          {.name = "--tag-output",
           .target = &is_tagged,
           .doc = "begin each line of output with the number of its process (rank)"},
          {.name = "--oversubscribe", .target = &may_oversubscribe, .doc = kSharingDoc},
          {.name = "--allow-shared-gpu", .target = &may_share_device, .doc = kSharingDoc},
          {.name = "--comm-timeout",
           .target = &timeout_s,
           .doc = "seconds to wait for a stuck process (rank) before the run stops",
           .range = {1, 1e6}}};
}

std::vector<Option> RankOptions::gradient_options() {
  constexpr const char* kSendingDoc = "send gradients as f32, bf16, f16; GPU RDMA: auto, on, off, NCCL level";
  const std::vector<Option> averaging{
      {.name = "--reduce",
       .target = &reduce,
       .doc = fmt::format("average gradients: auto,{},{}", dist::kNcclReduce, fmt::join(dist::reduce_names(), ","))},
      {.name = "--wire", .target = &wire, .doc = kSendingDoc},
      {.name = "--gdr", .target = &gdr, .doc = kSendingDoc}};
  return joined({averaging, servers.options()});
}

Option RankOptions::restart_option(std::string doc) {
  return {.name = "--restart", .target = &restart.most, .doc = std::move(doc), .range = {.low = 0}};
}

Value run_for_json(const RankOptions& options, const std::vector<std::string>& changed) {
  const HeldSignals signals;  // so that no signal ends this process before the file is removed
  std::string name = (runtime::temporary_folder() / "roentgen_ranks_XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) throw DataError(error_text("cli.launch", name, "a new file", std::strerror(errno), "another TMPDIR"));
  ::close(file);
  std::vector<std::string> dropped{"--ranks", "--hosts", "--hosts-from", "--json"};
  for (std::size_t i = 0; i < changed.size(); i += 2) dropped.push_back(changed[i]);
  std::vector<std::string> command = without_options(own_arguments(), dropped);
  command.insert(command.end(), changed.begin(), changed.end());
  command.insert(command.end(), {"--json", name});
  struct Remover {
    const std::string& name;
    ~Remover() { ::unlink(name.c_str()); }
  } const remover{name};
  const OnSignal on_signal = options.is_stoppable ? OnSignal::Save : OnSignal::End;
  const GroupEnd end = start_group(options, command, {.on_signal = on_signal, .signals = &signals, .is_silent = true});
  const auto text = io::read_text(name);
  const bool is_success = end.exit_code == kSuccess && text.ok();
  const bool has_saved = options.is_stoppable && is_success && !text.value().empty();
  if (end.signal != 0 && !has_saved) {
    throw bench::StopError(error_text("cli.launch", train::ranks_text(options.ranks), "a normal end",
                                      fmt::format("signal {} ({})", end.signal, ::strsignal(end.signal)),
                                      "running it again"));
  }
  if (is_success) return io::parse_json(text.value(), name).or_throw<CommError>();
  throw ToldError(end.exit_code == kSuccess ? kFailure : exit_code_of(end));
}

namespace {

// Both functions report to the process that started the ranks, which may be on another host.
void tell_ready() {
  if (!dist::tell_ready() && is_own_rank()) terminal::print_error(kAllListen);
}

void tell_failed(int exit_code) {
  if (!dist::tell_failed(exit_code) && is_own_rank()) {
    terminal::print_error(fmt::format("{}{}", kFirstFailure, exit_code));
  }
}

// Ends the process if a device still hangs some time after a failure.
const auto kEndOfHung = [](const std::exception_ptr& failure) { return end_after(failure); };

// True for an error about a certain rank, or about all ranks together.
bool names_rank(std::string_view text) { return text.empty() || text.find("rank") != std::string_view::npos; }

CommandResult run_with(dist::CommThread& group, const RankOptions& options, int launched,
                       const std::function<RankPlace()>& find_place,
                       const std::function<CommandResult(dist::CommThread*)>& body) {
  try {
    if (group.size() != launched) {
      throw ConfigError(
          error_text("cli.launch", "MPI", fmt::format("{} processes, as mpirun or srun started", launched),
                     fmt::format("{} that MPI sees", group.size()),
                     fmt::format("the mpirun (or srun --mpi) of {}, or ROENTGEN_MPI=FILE", dist::load_mpi().version)));
    }
    check_places(group, options, find_place());
    if (group.rank() == 0) tell_ready();
    CommandResult result = body(&group);
    if (options.is_stoppable) ignore_stop();  // all is done
    if (group.rank() == 0) dist::tell_end(result.exit_code);
    dist::reach(dist::kEnd);
    if (group.rank() == 0) return result;
    // Launchers end all processes when one exits with a nonzero status, so only rank 0, which ends last, may do so.
    return {.json = {}, .exit_code = kSuccess, .is_silent = true};
  } catch (...) {
    const Failure failure = failure_of(std::current_exception());
    const bool is_first = group.fail();
    if (is_first) tell_failed(failure.exit_code);
    if (!is_first) dist::tell_failed_later();
    if (!is_own_rank()) end_deserted_daemon();  // otherwise the rank's guard process ends the daemon
    if (is_first && (group.rank() == 0 || failure.exit_code != kBadInput || names_rank(failure.text))) throw;
    if (is_first) {
      terminal::print_error(fmt::format("{} (reported by rank {} on {})", failure.text, group.rank(),
                                        group.hosts()[static_cast<std::size_t>(group.rank())]));
    }
    return {.json = {}, .exit_code = failure.exit_code, .is_silent = true};
  }
}

// Runs the command in one process, without a process group unless the user asked for NCCL.
CommandResult run_alone(const RankOptions& options, const std::function<CommandResult(dist::CommThread*)>& body) {
  warn_of_idle_cards(options);
  if (options.reduce != dist::kNcclReduce) return body(nullptr);
  dist::CommThread group([] { return dist::make_communicator("single"); }, std::chrono::seconds(options.timeout_s),
                         {.algorithm = options.reduce, .wire = options.wire}, kEndOfHung);
  return body(&group);
}

// Throws ConfigError if a launcher started several processes but MPI sees only one: each would repeat the whole work.
void refuse_lone_process(const RankOptions& options) {
  // Accepts a single process without --ranks in a batch job, because it may start the ranks itself.
  const bool is_job = options.is_stoppable && options.ranks == 0 && options.asked_ranks != kAutomaticRanks;
  const auto promise = dist::unmet_promise(is_job ? dist::PromiseOf::Job : dist::PromiseOf::Step);
  if (!promise) return;
  throw ConfigError(error_text("cli.launch", promise->variable,
                               fmt::format("a group of {} processes", promise->processes), "a single process",
                               "srun --mpi=pmix (or pmi2), mpirun, or --ranks 1"));
}

// Returns the options with the number of processes that --ranks asks for. "auto" gives 0 if one process is enough, or
// if a launcher started several. Throws ConfigError if a launcher started one process for "auto", but there are several
// GPUs.
RankOptions with_ranks(RankOptions options, const std::optional<dist::LaunchedRank>& launched) {
  if (options.asked_ranks.empty()) return options;
  const std::optional<std::int64_t> number = parse_ranks(options.asked_ranks);
  if (!number && !(options.hosts.empty() && options.hosts_from.empty())) {
    throw ConfigError(error_text("cli.launch", "--ranks", "a number with --hosts or --hosts-from", options.asked_ranks,
                                 "leaving out --ranks, or the number of ranks on all hosts"));
  }
  options.ranks = number.value_or(0);
  if (number || (launched && launched->size > 1)) return options;
  const AskedDevice asked = asked_device(options);
  const auto ranks = automatic_ranks(asked.device, asked.cards, card_instances(std::getenv(kVisibleCards)));
  if (ranks > 1 && launched) {
    throw ConfigError(error_text("cli.launch", "--ranks auto",
                                 fmt::format("{} processes on {}, one per GPU", ranks, dist::own_host()),
                                 "1, as mpirun or srun started",
                                 fmt::format("mpirun -np {0}, srun --ntasks-per-node={0}, or --ranks 1", ranks)));
  }
  if (ranks > 1) options.ranks = ranks;
  return options;
}

// Throws ConfigError for Open MPI under a launcher with only PMI, where MPI_Init would end the process. Accepts a
// library file in ROENTGEN_MPI, which may support PMI.
void refuse_open_mpi_under_pmi(const dist::LaunchedRank& own) {
  if (own.bootstrap != dist::Bootstrap::Pmi || std::getenv("PMIX_RANK") != nullptr) return;
  const char* value = std::getenv("ROENTGEN_MPI");
  const std::string asked = value == nullptr ? "" : value;
  if (asked.find('/') != std::string::npos || asked.find(".so") != std::string::npos) return;
  const dist::MpiLibrary mpi = dist::load_mpi();
  if (mpi.family != dist::kOpenMpi) return;
  const bool is_srun = own.launcher.starts_with("srun");
  throw ConfigError(error_text(
      "cli.launch", own.launcher, fmt::format("MPICH, which supports {}", is_srun ? "PMI2" : "PMI"), mpi.version,
      fmt::format("{}, or ROENTGEN_MPI=mpich", is_srun ? "srun --mpi=pmix" : "the mpirun of Open MPI")));
}

// Throws ConfigError for options that only a process that starts ranks understands.
void refuse_options_of_starting(const RankOptions& options, bool is_launched) {
  for (const auto& [name, is_given] : {std::pair{"--restart", options.restart.most > 0},
                                       {"--tag-output", options.is_tagged && !is_own_rank()},
                                       {"--hosts", !options.hosts.empty()},
                                       {"--hosts-from", !options.hosts_from.empty()},
                                       {"--ppn", !options.layout.per_node.empty() && is_launched && !is_own_rank()}}) {
    if (!is_given) continue;
    throw ConfigError(error_text("cli.launch", name, "--ranks, which starts the processes",
                                 is_launched ? "mpirun or srun" : "no --ranks",
                                 "--ranks N, or an option of mpirun or srun"));
  }
}

// Time limit of this rank for MPI_Init, and for MPI_Finalize.
std::chrono::seconds limit_of_waits(const RankOptions& options) {
  const std::chrono::seconds limit = std::max(std::chrono::seconds(options.timeout_s), kShortestLimit);
  return is_own_rank() ? limit + kAfterStarter : limit;
}

// Starts the ranks and returns the result of rank 0.
Value run_for_result(const RankOptions& options) {
  try {
    Value result = run_for_json(options, {});
    if (options.after) options.after();
    return result;
  } catch (...) {
    if (options.after) options.after();
    throw;
  }
}

}  // namespace

CommandResult run_as_ranks(const RankOptions& given,
                           const std::function<CommandResult(dist::CommThread* group)>& body) {
  dist::check_reduce_names({.algorithm = given.reduce, .wire = given.wire});
  dist::set_gdr(given.gdr);
  const train::ServerOptions servers = train::parse_server_options(given.servers);  // throws before ranks start
  train::check_server_messages(servers, given.reduce, given.wire);
  const std::optional<dist::LaunchedRank> launched = dist::launched_rank();
  if (!given.devices.empty()) return run_as_threads(given, launched.has_value(), body);
  if (launched) dist::follow_mpi_interfaces();
  if (launched && launched->rank > 0) dist::send_nccl_messages_to_stderr();
  const RankLayout layout = parse_layout(given.layout);
  const RankOptions counted = with_ranks(given, launched);
  const RankOptions options = launched ? counted : with_hosts(counted, layout);
  refuse_lone_process(options);
  if (options.ranks > 0 && !launched) {
    if (options.returns_result) return {.json = run_for_result(options)};
    const std::vector<std::string> own_words{"--ranks", "--hosts", "--hosts-from", "--restart"};
    const GroupEnd end = start_groups(options, without_options(own_arguments(), own_words));
    if (options.after) options.after();
    if (end.output_error != 0 && end.exit_code == kSuccess) {
      throw DataError(lost_output_text(std::strerror(end.output_error)));
    }
    return {.json = {}, .exit_code = exit_code_of(end), .is_silent = true};
  }
  if (options.ranks > 0 && options.ranks != launched->size) {
    throw ConfigError(error_text("cli.launch", "--ranks", fmt::format("{}, as mpirun or srun started", launched->size),
                                 fmt::to_string(options.ranks), "either mpirun (srun) or --ranks, not both"));
  }
  refuse_options_of_starting(options, launched.has_value());
  if (!launched) return run_alone(options, body);
  if (is_own_rank()) guard_rank(options.is_stoppable && !options.returns_result, options.is_tagged);
  see_own_instance(launched->local_rank);
  if (options.is_stoppable) listen_for_stop();
  if (launched->size == 1) {
    tell_ready();
    CommandResult result = run_alone(options, body);
    dist::tell_end(result.exit_code);
    return result;
  }
  refuse_open_mpi_under_pmi(*launched);
  const AskedDevice asked = asked_device_or_host(options);
  const bool is_server = launched->rank >= launched->size - servers.servers;
  const Binding binding = take_place(options, layout, *launched, asked, is_server);
  if (launched->rank > 0) be_silent(options.is_tagged);
  dist::reach(dist::kStartUp);
  const auto make = [&] {
    if (!binding.communication.empty()) runtime::bind_thread(binding.communication);
    return dist::make_communicator("mpi");
  };
  const RankLimit limit{.rank = launched->rank, .ranks = launched->size, .limit = limit_of_waits(options)};
  const bool is_watched = dist::is_seen_by_starter();  // the starter has its own time limits
  std::optional<Watchdog> start;
  std::optional<Watchdog> end;  // destroyed after the group, whose destructor calls MPI_Finalize
  if (!is_watched) start.emplace(limit.limit, start_limit_text(limit));
  dist::CommThread group(make, std::chrono::seconds(options.timeout_s),
                         {.algorithm = options.reduce, .wire = options.wire}, kEndOfHung);
  start.reset();
  dist::reach({.name = "preparation"});
  CommandResult result = run_with(
      group, options, launched->size, [&] { return own_place(options, *launched, asked, binding); }, body);
  if (options.ends_together && !is_watched) end.emplace(limit.limit, end_limit_text(limit));
  return result;
}

}  // namespace roentgen::cli
