// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
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

#include "cli/failure.h"
#include "cli/launcher.h"
#include "cli/mpirun_command.h"
#include "cli/mpirun_words.h"
#include "cli/rank_guard.h"
#include "cli/rank_place.h"
#include "cli/standard_output.h"
#include "cli/start_watch.h"
#include "cli/stop_signals.h"
#include "core/error.h"
#include "core/log.h"
#include "core/terminal.h"
#include "dist/comm_thread.h"
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

// Refuses limits at which Open MPI's mpirun waits for ever: it opens about 28 files, and 4 for each rank of its host.
void require_open_files(std::int64_t ranks) {
  constexpr rlim_t kOwn = 32, kOfRank = 6;
  const rlim_t needed = kOwn + kOfRank * static_cast<rlim_t>(ranks);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  throw ConfigError(error_text("cli.launch", "ulimit -n",
                               fmt::format("{} open files or more for {}", needed, train::ranks_text(ranks)),
                               fmt::to_string(limit.rlim_cur), fmt::format("ulimit -n {}, or fewer ranks", needed)));
}

// Exit codes of mpirun and of signals are different from ours (command.h).
int exit_code_of(const GroupEnd& end) {
  return end.exit_code >= kSuccess && end.exit_code <= kStopped ? end.exit_code : kFailure;
}

GroupEnd start_group(const RankOptions& options, const std::vector<std::string>& command, GroupOptions how) {
  if (options.hosts.empty()) {
    require_open_files(options.ranks);
  } else {
    require_hosts(options.hosts);
  }
  const GroupStart start{.mpi = dist::load_mpi().family,
                         .ranks = options.ranks,
                         .hosts = options.hosts,
                         .is_root = ::geteuid() == 0,
                         .environment = dist::own_environment()};
  how.ranks = options.ranks;
  how.may_be_remote = !options.hosts.empty();
  // Other ranks also wait for the end of the run, but only briefly; results are written by then, too.
  constexpr std::chrono::seconds kLeast{5};
  how.after_end = std::clamp<std::chrono::milliseconds>(std::chrono::seconds(options.timeout_s), kLeast, how.after_end);
  // The limit of the ranks comes first, because they know better which rank is missing.
  constexpr std::chrono::seconds kLater{10};
  how.to_start = std::chrono::seconds(options.timeout_s) + kLater;
  // A rank of this host starts within seconds; otherwise mpirun itself hangs. A longer limit of the user wins.
  constexpr std::chrono::seconds kToBegin{60};
  if (options.hosts.empty()) how.to_begin = std::max(kToBegin, std::chrono::seconds(options.timeout_s));
  return run_group(mpirun_command(start, command), how);
}

// Silences all ranks but 0, because the others would repeat its warnings.
void be_silent() {
  drop_standard_output();
  log::set_level(log::Level::Error);
}

// Two options with equal texts share a line of the help.
constexpr const char* kSharingDoc = "allow more threads than cores, or ranks that share a GPU";

}  // namespace

bool is_own_rank() { return std::getenv(kStartedByUs) != nullptr; }

std::vector<Option> RankOptions::options() {
  return {{.name = "--ranks",
           .target = &ranks,
           .doc = "number of processes to start under mpirun; 0 = do not start any",
           .range = {0, 65536}},
          {.name = "--hosts",
           .target = &hosts,
           .doc = "hosts and their numbers of processes, such as a:2,b:2; needs --ranks"},
          {.name = "--oversubscribe", .target = &may_oversubscribe, .doc = kSharingDoc},
          {.name = "--allow-shared-gpu", .target = &may_share_device, .doc = kSharingDoc},
          {.name = "--comm-timeout",
           .target = &timeout_s,
           .doc = "seconds to wait for a rank before the run ends and names that rank",
           .range = {1, 1e6}}};
}

std::vector<Option> RankOptions::gradient_options() {
  const std::vector<Option> averaging{
      {.name = "--reduce",
       .target = &reduce,
       .doc = fmt::format("averaging: auto, {}", fmt::join(dist::reduce_names(), ", "))},
      {.name = "--wire", .target = &wire, .doc = "type of gradients between ranks: f32, or bf16 for half the traffic"}};
  return joined({averaging, servers.options()});
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

// Binds this process to its share of the host's cores, then to those that are not reserved for communication.
// A server updates on the thread that communicates, so it reserves none.
// @return the reserved cores; empty: none
runtime::CoreList take_place(const RankOptions& options, const dist::LaunchedRank& own, bool is_server) {
  if (is_own_rank() && own.local_size > 0) {
    const auto shares = runtime::shares_of(runtime::usable_cores(), own.local_size);
    runtime::bind_process(shares.at(static_cast<std::size_t>(own.local_rank)));
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

RankPlace own_place(const RankOptions& options, runtime::CoreList communication) {
  RankPlace own{.cores = runtime::usable_cores(), .communication = std::move(communication)};
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
  for (int rank = 0; rank < group.size(); ++rank) {
    const RankPlace place = parse_rank_place(all[static_cast<std::size_t>(rank)]);
    const std::string& host = group.hosts()[static_cast<std::size_t>(rank)];
    cores[host].insert(place.cores.begin(), place.cores.end());
    threads[host] += place.threads;
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
  if (group.rank() == 0) log::debug("ranks: " + map);
}

// Reports to the process that started the ranks, which may be on another host.
void tell_ready() {
  if (!dist::tell_ready() && is_own_rank()) terminal::print_error(kAllListen);
}

CommandResult run_with(dist::CommThread& group, const RankOptions& options, int launched,
                       const runtime::CoreList& communication,
                       const std::function<CommandResult(dist::CommThread*)>& body) {
  try {
    if (group.size() != launched) {
      throw ConfigError(error_text(
          "cli.launch", "ranks", fmt::format("{}, as the launcher started", launched),
          fmt::format("{} that MPI knows of", group.size()),
          fmt::format("the mpirun, or srun --mpi, of {}, or ROENTGEN_MPI=FILE of another", dist::load_mpi().version)));
    }
    check_places(group, options, own_place(options, communication));
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

// Refuses to run as one of several processes that do not know each other: each would repeat the whole work.
void refuse_lone_process(const RankOptions& options) {
  const bool is_job = options.is_stoppable && options.ranks == 0;  // a batch job may start its own ranks
  const auto promise = dist::unmet_promise(is_job ? dist::PromiseOf::Job : dist::PromiseOf::Step);
  if (!promise) return;
  throw ConfigError(
      error_text("cli.launch", promise->variable, fmt::format("a group of {} processes", promise->processes),
                 "one that was told of no other", "srun --mpi=pmix (or pmi2), mpirun, or --ranks 1 for one process"));
}

}  // namespace

CommandResult run_as_ranks(const RankOptions& options,
                           const std::function<CommandResult(dist::CommThread* group)>& body) {
  dist::check_reduce_names({.algorithm = options.reduce, .wire = options.wire});
  static_cast<void>(train::parse_server_options(options.servers));  // refuses before ranks start
  refuse_lone_process(options);
  const std::optional<dist::LaunchedRank> launched = dist::launched_rank();
  if (options.ranks > 0 && !launched) {
    const GroupEnd end = start_group(options, without_options(own_arguments(), {"--ranks", "--hosts"}),
                                     {.on_signal = options.is_stoppable ? OnSignal::Save : OnSignal::End});
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
  if (!options.hosts.empty()) {
    throw ConfigError(error_text("cli.launch", "--hosts", "--ranks beside it", "none", "--ranks N --hosts a:2,b:2"));
  }
  if (!launched) return body(nullptr);
  if (is_own_rank()) guard_rank(options.is_stoppable);
  if (options.is_stoppable) listen_for_stop();
  if (launched->size == 1) {
    tell_ready();
    CommandResult result = body(nullptr);
    dist::tell_end(result.exit_code);
    return result;
  }
  const bool is_server = launched->rank >= launched->size - train::parse_server_options(options.servers).servers;
  const runtime::CoreList communication = take_place(options, *launched, is_server);
  if (launched->rank > 0) be_silent();
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
  return run_with(group, options, launched->size, communication, body);
}

}  // namespace roentgen::cli
