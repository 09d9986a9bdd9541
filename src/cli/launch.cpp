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
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "cli/failure.h"
#include "cli/launcher.h"
#include "cli/mpirun_command.h"
#include "cli/mpirun_words.h"
#include "cli/rank_cards.h"
#include "cli/rank_guard.h"
#include "cli/rank_place.h"
#include "cli/rank_start.h"
#include "cli/standard_output.h"
#include "cli/start_watch.h"
#include "cli/stop_signals.h"
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
#include "runtime/cores.h"
#include "runtime/placement.h"
#include "train/own_device.h"
#include "train/ranks.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    arguments.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  RG_ASSERT(!arguments.empty());
  arguments[0] = std::filesystem::read_symlink("/proc/self/exe").string();
  return arguments;
}

void drop_standard_output() {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::close(nowhere);
}

// Exit codes of mpirun and of signals are different from ours (command.h).
int exit_code_of(const GroupEnd& end) {
  return end.exit_code >= kSuccess && end.exit_code <= kStopped ? end.exit_code : kFailure;
}

// Silences all ranks but 0, because the others would repeat its warnings. Tagged lines say whose they are.
void be_silent(bool is_tagged) {
  drop_standard_output();
  if (!is_tagged) log::set_level(log::Level::Error);
}

// Options with equal texts share a line of the help.
constexpr const char* kHostsDoc = "a:2,b:2 with --ranks 4; slurm, pbs or a FILE of host:ranks lines";
constexpr const char* kSharingDoc = "allow more threads than cores, or ranks that share a GPU";

}  // namespace

bool is_own_rank() { return std::getenv(kStartedByUs) != nullptr; }

std::vector<Option> RankOptions::options() {
  return {{.name = "--ranks",
           .target = &asked_ranks,
           .doc = "processes to start under mpirun; auto: one per CUDA device; 0: none",
           .value_name = "N|auto"},
          {.name = "--hosts", .target = &hosts, .doc = kHostsDoc},
          {.name = "--hosts-from", .target = &hosts_from, .doc = kHostsDoc},
          {.name = "--tag-output", .target = &is_tagged, .doc = "begin each line of output with its rank"},
          {.name = "--oversubscribe", .target = &may_oversubscribe, .doc = kSharingDoc},
          {.name = "--allow-shared-gpu", .target = &may_share_device, .doc = kSharingDoc},
          {.name = "--comm-timeout",
           .target = &timeout_s,
           .doc = "seconds to wait for a rank before the run ends and names that rank",
           .range = {1, 1e6}}};
}

std::vector<Option> RankOptions::gradient_options() {
  constexpr const char* kSendingDoc = "sent as f32, bf16, f16; RDMA: auto, on, off or LOC, PIX, PXB, PHB, SYS";
  const std::vector<Option> averaging{
      {.name = "--reduce",
       .target = &reduce,
       .doc = fmt::format("averaging: auto, {}, {}", dist::kNcclReduce, fmt::join(dist::reduce_names(), ", "))},
      {.name = "--wire", .target = &wire, .doc = kSendingDoc},
      {.name = "--gdr", .target = &gdr, .doc = kSendingDoc}};
  return joined({averaging, servers.options()});
}

Option RankOptions::restart_option(std::string doc) {
  return {.name = "--restart", .target = &restart.most, .doc = std::move(doc), .range = {.low = 0}};
}

Value run_for_json(const RankOptions& options, const std::vector<std::string>& changed) {
  std::string name = (runtime::temporary_folder() / "roentgen_ranks_XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) throw DataError(error_text("cli.launch", name, "a file", std::strerror(errno), "another TMPDIR"));
  ::close(file);
  std::vector<std::string> dropped{"--ranks", "--hosts", "--json"};
  for (std::size_t i = 0; i < changed.size(); i += 2) dropped.push_back(changed[i]);
  std::vector<std::string> command = without_options(own_arguments(), dropped);
  command.insert(command.end(), changed.begin(), changed.end());
  command.insert(command.end(), {"--json", name});
  struct Remover {
    const std::string& name;
    ~Remover() { ::unlink(name.c_str()); }
  } const remover{name};
  const GroupEnd end = start_group(options, command, {.is_silent = true});
  if (end.signal != 0) {
    throw CommError(error_text("cli.launch", train::ranks_text(options.ranks), "time to finish",
                               fmt::format("signal {} ({})", end.signal, ::strsignal(end.signal)), "it again"));
  }
  const auto text = io::read_text(name);
  if (end.exit_code == kSuccess && text.ok()) return io::parse_json(text.value(), name).or_throw<CommError>();
  throw ToldError(end.exit_code == kSuccess ? kFailure : exit_code_of(end));
}

namespace {

// Device that the command computes on, as asked for, and the cards that it may be.
struct AskedDevice {
  engine::DeviceChoice device{.engine = "cpu"};
  runtime::CudaInventory cards{};
};

AskedDevice asked_device(const RankOptions& options) {
  AskedDevice asked;
  if (!options.recipe) return asked;
  asked.device = engine::resolve_device(engine::parse_device(options.recipe().device));
  if (!asked.device.is_host()) asked.cards = runtime::find_cuda_devices();
  return asked;
}

// Leaves one of several instances of partitioned cards (MIG) in sight, since CUDA shows a process the first one alone.
// Called before CUDA starts, in the process's only thread.
void see_own_instance(int local_rank) {
  const std::vector<std::string> instances = card_instances(std::getenv(kVisibleCards));
  if (instances.size() < 2) return;
  ::setenv(kVisibleCards, instances[static_cast<std::size_t>(local_rank) % instances.size()].c_str(), 1);
}

// asked_device() of a rank. The group reads a bad recipe again, and tells of it once.
AskedDevice asked_device_or_host(const RankOptions& options) {
  try {
    return asked_device(options);
  } catch (const Error&) {
    return {};
  }
}

// Binds this process to its share of the host's cores, then to those that are not reserved for communication.
// A server updates on the thread that communicates, so it reserves none.
// @return the reserved cores; empty: none
runtime::CoreList take_place(const RankOptions& options, const dist::LaunchedRank& own, const AskedDevice& asked,
                             bool is_server) {
  if (is_own_rank() && own.local_size > 0) {
    runtime::bind_process(own_share(runtime::usable_cores(), own, asked.device, asked.cards));
  }
  const std::vector<runtime::CoreList> cores = runtime::by_physical_core(runtime::usable_cores());
  if (!options.recipe || is_server || !runtime::are_own(cores, own.local_size)) return {};
  const runtime::Placement placement =
      runtime::place(cores, {.has_communication = true, .threads = train::asked_threads(options.recipe())});
  if (placement.communication.empty()) return {};
  runtime::bind_process(placement.compute);
  // reads the cores of the process before one of its threads is bound to others
  static_cast<void>(runtime::available_cores());
  static_cast<void>(runtime::cores_of_process());
  return placement.communication;
}

RankPlace own_place(const RankOptions& options, const dist::LaunchedRank& launched, const AskedDevice& asked,
                    runtime::CoreList communication) {
  RankPlace own{.cores = runtime::usable_cores(), .communication = std::move(communication)};
  own.card = card_text(train::own_device(asked.device, launched, asked.cards), asked.cards);
  if (options.recipe) own.input = train::train_cores(options.recipe()).input;
  own.threads = options.threads  ? options.threads()
                : options.recipe ? train::compute_threads(options.recipe())
                                 : runtime::default_compute_threads();
  return own;
}

// Refuses more compute threads than a host has cores for its ranks, and prints the cores of each rank.
void check_places(dist::CommThread& group, const RankOptions& options, const RankPlace& own) {
  const std::vector<std::string> all = train::Ranks(&group).gather(bytes_of(own), {.name = "places"});
  std::map<std::string, std::set<int>> cores;
  std::map<std::string, int> threads;
  std::string map;
  bool has_cards = false;
  for (int rank = 0; rank < group.size(); ++rank) {
    const RankPlace place = parse_rank_place(all[static_cast<std::size_t>(rank)]);
    const std::string& host = group.hosts()[static_cast<std::size_t>(rank)];
    cores[host].insert(place.cores.begin(), place.cores.end());
    threads[host] += place.threads;
    has_cards = has_cards || !place.card.empty();
    map += fmt::format("{}{} on {}, {}", map.empty() ? "" : "; ", rank, host, text_of(place));
  }
  for (const auto& [host, count] : threads) {
    const int has = static_cast<int>(cores[host].size());
    if (count <= has) continue;
    if (!options.may_oversubscribe) {
      throw ConfigError(error_text("cli.launch", "ranks on " + host,
                                   fmt::format("at most {} compute threads, a core each", has), fmt::to_string(count),
                                   "fewer ranks, OMP_NUM_THREADS=1, mpirun --map-by slot:PE=K, or --oversubscribe"));
    }
    if (group.rank() == 0) log::warning(fmt::format("{} compute threads on the {} cores of {}", count, has, host));
  }
  if (group.rank() == 0) log::write(has_cards ? log::Level::Info : log::Level::Debug, "ranks: " + map);
}

// Reports to the process that started the ranks, which may be on another host.
void tell_ready() {
  if (!dist::tell_ready() && is_own_rank()) terminal::print_error(kAllListen);
}

CommandResult run_with(dist::CommThread& group, const RankOptions& options, int launched,
                       const std::function<RankPlace()>& find_place,
                       const std::function<CommandResult(dist::CommThread*)>& body) {
  try {
    if (group.size() != launched) {
      throw ConfigError(error_text(
          "cli.launch", "ranks", fmt::format("{}, as the launcher started", launched),
          fmt::format("{} that MPI knows of", group.size()),
          fmt::format("the mpirun, or srun --mpi, of {}, or ROENTGEN_MPI=FILE of another", dist::load_mpi().version)));
    }
    check_places(group, options, find_place());
    if (group.rank() == 0) tell_ready();
    CommandResult result = body(&group);
    if (options.is_stoppable) ignore_stop();  // all is done
    if (group.rank() == 0) dist::tell_end(result.exit_code);
    dist::reach({.name = "end"});
    if (group.rank() == 0) return result;
    // Launchers end all processes when one exits with a nonzero status. Rank 0 ends last, and its status is the job's.
    return {.json = {}, .exit_code = kSuccess, .is_silent = true};
  } catch (...) {
    const Failure failure = failure_of(std::current_exception());
    const bool is_first = group.fail();
    dist::tell_failed(failure.exit_code);
    if (!is_own_rank()) end_deserted_daemon();  // otherwise the guard does
    if (is_first) throw;
    return {.json = {}, .exit_code = failure.exit_code, .is_silent = true};
  }
}

// One process has no group, unless NCCL was asked for.
CommandResult run_alone(const RankOptions& options, const std::function<CommandResult(dist::CommThread*)>& body) {
  if (options.reduce != dist::kNcclReduce) return body(nullptr);
  dist::CommThread group([] { return dist::make_communicator("single"); }, std::chrono::seconds(options.timeout_s),
                         {.algorithm = options.reduce, .wire = options.wire});
  return body(&group);
}

// Refuses to run as one of several processes that do not know each other: each would repeat the whole work.
void refuse_lone_process(const RankOptions& options) {
  // A batch job may start its own ranks.
  const bool is_job = options.is_stoppable && options.ranks == 0 && options.asked_ranks != kAutomaticRanks;
  const auto promise = dist::unmet_promise(is_job ? dist::PromiseOf::Job : dist::PromiseOf::Step);
  if (!promise) return;
  throw ConfigError(
      error_text("cli.launch", promise->variable, fmt::format("a group of {} processes", promise->processes),
                 "one that was told of no other", "srun --mpi=pmix (or pmi2), mpirun, or --ranks 1 for one process"));
}

// The options with the number of processes that --ranks asks for. "auto" is 0 where one process serves, or a launcher
// started this one.
RankOptions with_ranks(RankOptions options, bool is_launched) {
  if (options.asked_ranks.empty()) return options;
  const std::optional<std::int64_t> number = parse_ranks(options.asked_ranks);
  if (!number && !(options.hosts.empty() && options.hosts_from.empty())) {
    throw ConfigError(error_text("cli.launch", "--ranks", "a number with --hosts or --hosts-from", options.asked_ranks,
                                 "--ranks N, the sum of the hosts' numbers"));
  }
  options.ranks = number.value_or(0);
  if (number || is_launched) return options;
  const AskedDevice asked = asked_device(options);
  const auto ranks = automatic_ranks(asked.device, asked.cards, card_instances(std::getenv(kVisibleCards)));
  if (ranks > 1) options.ranks = ranks;
  return options;
}

// Refuses Open MPI where the launcher speaks PMI2 alone: its MPI_Init would end the process with thirty lines. A
// library that ROENTGEN_MPI names by its file may have been built for it.
void refuse_open_mpi_under_pmi2() {
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  if (!is_set("PMI_SIZE") || is_set("PMIX_RANK") || is_set("OMPI_COMM_WORLD_SIZE")) return;
  const std::string asked = is_set("ROENTGEN_MPI") ? std::getenv("ROENTGEN_MPI") : "";
  if (asked.find('/') != std::string::npos || asked.find(".so") != std::string::npos) return;
  const dist::MpiLibrary mpi = dist::load_mpi();
  if (mpi.family != dist::kOpenMpi) return;
  throw ConfigError(error_text("cli.launch", "srun --mpi=pmi2", "MPICH, which speaks PMI2", mpi.version,
                               "srun --mpi=pmix, or ROENTGEN_MPI=mpich"));
}

// Refuses options of the process that starts the ranks, where it starts none.
void refuse_options_of_starting(const RankOptions& options, bool is_launched) {
  if (!options.hosts.empty()) {
    throw ConfigError(error_text("cli.launch", "--hosts", "--ranks beside it", "none", "--ranks N --hosts a:2,b:2"));
  }
  for (const auto& [name, is_given] : {std::pair{"--restart", options.restart.most > 0},
                                       {"--tag-output", options.is_tagged && !is_own_rank()},
                                       {"--hosts-from", !options.hosts_from.empty()}}) {
    if (!is_given) continue;
    throw ConfigError(error_text("cli.launch", name, "--ranks, which starts the ranks",
                                 is_launched ? "a launcher" : "none", "--ranks N; or mpirun's or srun's own option"));
  }
}

}  // namespace

CommandResult run_as_ranks(const RankOptions& given,
                           const std::function<CommandResult(dist::CommThread* group)>& body) {
  dist::check_reduce_names({.algorithm = given.reduce, .wire = given.wire});
  dist::set_gdr(given.gdr);
  const train::ServerOptions servers = train::parse_server_options(given.servers);  // refuses before ranks start
  train::refuse_nccl_servers(servers, given.reduce);
  const std::optional<dist::LaunchedRank> launched = dist::launched_rank();
  const RankOptions counted = with_ranks(given, launched.has_value());
  const RankOptions options = launched ? counted : with_hosts(counted);
  refuse_lone_process(options);
  if (options.ranks > 0 && !launched) {
    const std::vector<std::string> own_words{"--ranks", "--hosts", "--hosts-from", "--restart"};
    const GroupEnd end = start_groups(options, without_options(own_arguments(), own_words));
    if (options.after) options.after();
    if (end.output_error != 0 && end.exit_code == kSuccess) {
      throw DataError(lost_output_text(std::strerror(end.output_error)));
    }
    return {.json = {}, .exit_code = exit_code_of(end), .is_silent = true};
  }
  if (options.ranks > 0 && options.ranks != launched->size) {
    throw ConfigError(error_text("cli.launch", "--ranks", fmt::format("{}, as were started", launched->size),
                                 fmt::to_string(options.ranks), "mpirun or --ranks alone"));
  }
  refuse_options_of_starting(options, launched.has_value());
  if (!launched) return run_alone(options, body);
  if (is_own_rank()) guard_rank(options.is_stoppable, options.is_tagged);
  if (is_own_rank()) see_own_instance(launched->local_rank);
  if (options.is_stoppable) listen_for_stop();
  if (launched->size == 1) {
    tell_ready();
    CommandResult result = run_alone(options, body);
    dist::tell_end(result.exit_code);
    return result;
  }
  refuse_open_mpi_under_pmi2();
  const AskedDevice asked = asked_device_or_host(options);
  const bool is_server = launched->rank >= launched->size - servers.servers;
  const runtime::CoreList communication = take_place(options, *launched, asked, is_server);
  if (launched->rank > 0) be_silent(options.is_tagged);
  dist::reach({.name = "start-up"});
  const auto make = [&] {
    if (!communication.empty()) runtime::bind_thread(communication);
    return dist::make_communicator("mpi");
  };
  // A program that started its own ranks watches them itself and knows which are late.
  std::optional<StartWatch> watch;
  if (!is_own_rank()) watch.emplace(launched->rank, launched->size, std::chrono::seconds(options.timeout_s));
  dist::CommThread group(make, std::chrono::seconds(options.timeout_s),
                         {.algorithm = options.reduce, .wire = options.wire});
  watch.reset();
  return run_with(
      group, options, launched->size, [&] { return own_place(options, *launched, asked, communication); }, body);
}

}  // namespace roentgen::cli
