// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "cli/command.h"
#include "cli/held_signals.h"
#include "cli/late_ranks.h"
#include "cli/mpirun_output.h"
#include "cli/mpirun_words.h"
#include "cli/rank_guard.h"
#include "core/error.h"
#include "dist/launch_board.h"

namespace roentgen::cli {
namespace {

constexpr int kNoProgram = 127;
constexpr int kNotRun = 126;
/// Exit codes above this value mean that signal (code - 128) ended the process.
constexpr int kKilled = 128;

/// Standard output and standard error of mpirun.
struct Outputs {
  /// Points to GroupEnd::output_error.
  int* error = nullptr;
  OutputPipe out{stdout, error};
  OutputPipe err{stderr, nullptr};
  MpirunWords out_words;
  MpirunWords err_words;

  void close_write_ends() {
    out.close_write_end();
    err.close_write_end();
  }
  /// Forwards pending output. If there is none, waits for up to `wait_ms` for output or a signal. Returns false if no
  /// output came.
  bool pass_on(const HeldSignals& signals, int wait_ms) {
    std::array<pollfd, 3> looks{out.look(), err.look(), signals.look()};
    if (::poll(looks.data(), looks.size(), wait_ms) <= 0) return false;
    if (looks[0].revents != 0) out.pass_on(out_words);
    if (looks[1].revents != 0) err.pass_on(err_words);
    return looks[0].revents != 0 || looks[1].revents != 0;
  }
  void finish(const HeldSignals& signals) {
    while (pass_on(signals, 0)) {
    }
    out.say(out_words.rest());
    err.say(err_words.rest());
  }
};

[[noreturn]] void become(const std::vector<std::string>& command, const Outputs& outputs, bool is_silent) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  ::setpgid(0, 0);                     // a terminal sends Ctrl-C only to this process
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // mpirun ends if this process ends
  ::dup2(outputs.err.write_end(), STDERR_FILENO);
  const int nowhere = is_silent ? ::open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
  ::dup2(nowhere >= 0 ? nowhere : outputs.out.write_end(), STDOUT_FILENO);
  ::execvp(arguments[0], arguments.data());
  ::_exit(errno == ENOENT ? kNoProgram : kNotRun);
}

/// State to check while mpirun runs.
struct Watched {
  pid_t child = -1;
  const HeldSignals& signals;
  const dist::LaunchBoard& board;
  Outputs& outputs;
};

/// True once rank 0 has reported that all ranks handle signals: in shared memory or, from another host, by a line of
/// output.
bool all_listen(const Watched& watched) {
  return watched.board.is_ready() || watched.outputs.err_words.all_listen() || watched.outputs.out_words.all_listen();
}

/// Exit code of the rank that failed first: from shared memory or, from another host, from a line of output. nullopt:
/// no rank has reported it.
std::optional<int> first_failure(const dist::LaunchBoard& board, const Outputs& outputs) {
  for (const auto& code : {board.failure(), outputs.err_words.failure(), outputs.out_words.failure()}) {
    if (code) return code;
  }
  return std::nullopt;
}

/// Ends an mpirun that hangs. Causes: ranks wait in MPI_Init for a missing rank, a failed host cannot be reached, or
/// ranks hang in MPI_Finalize.
class LongStay {
 public:
  LongStay(const Watched& watched, const GroupOptions& options) : watched_(watched), options_(options) {}
  /// Checks the time limits and ends mpirun if one is exceeded. Call it repeatedly.
  void look() {
    const auto now = Clock::now();
    look_at_start(now);
    if (failed_ == kNever && options_.may_be_remote && watched_.board.has_failed()) failed_ = now;
    if (killed_ == kNever && watched_.board.killed()) killed_ = now;
    if (ended_ == kNever && watched_.board.exit_code()) ended_ = now;
    if (!is_over_ && ended_ < now - options_.after_end) {
      is_over_ = true;
      late_text_ = late_end_text(watched_.board, options_.ranks, options_.after_end, others());
      ::kill(watched_.child, SIGTERM);  // mpirun then ends the ranks
    }
    if (failed_ < now - kFailedGrace || killed_ < now - kKilledGrace || ended_ < now - options_.after_end - kGrace)
      kill_all();
  }
  /// True if this program ended mpirun because mpirun was still running after the end of rank 0.
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// True if this program ended mpirun before all ranks had started.
  [[nodiscard]] bool is_late() const { return late_ != kNever; }
  /// True if mpirun was killed by SIGKILL and so could not print anything.
  [[nodiscard]] bool is_killed() const { return is_killed_; }
  /// Line about ranks that did not start in time (already printed), or did not end in time; empty if none.
  [[nodiscard]] const std::string& late_text() const { return late_text_; }

 private:
  using Clock = std::chrono::steady_clock;
  void look_at_start(Clock::time_point now) {
    const dist::LaunchBoard& board = watched_.board;
    has_begun_ = has_begun_ || board.is_connected() || all_listen(watched_) || board.has_failed() || board.killed() ||
                 board.exit_code();
    if (connecting_ == kNever && board.is_connecting()) connecting_ = now;
    if (late_ == kNever && !has_begun_) {
      const auto is_past = [&](Clock::time_point begin, std::chrono::milliseconds limit) {
        return limit.count() > 0 && begin < now - limit;
      };
      if (is_past(connecting_, options_.to_start) && has_missing_ranks(board, options_.ranks, others())) {
        end_late(now, late_start_text(board, options_.ranks, options_.to_start, others()));
      } else if (is_past(connecting_, options_.to_begin)) {
        end_late(now, late_start_text(board, options_.ranks, options_.to_begin, others()));
      } else if (connecting_ == kNever && is_past(begin_, options_.to_begin)) {
        const bool has_none = board.processes().empty() && !options_.may_be_remote;
        end_late(now, has_none ? no_start_text(options_.to_begin)
                               : late_start_text(board, options_.ranks, options_.to_begin, others()));
      }
    }
    if (late_ < now - kGrace) kill_all();
  }
  [[nodiscard]] OtherHosts others() const { return options_.has_other_hosts ? OtherHosts::Yes : OtherHosts::No; }
  void end_late(Clock::time_point now, const std::string& text) {
    late_ = now;
    late_text_ = text;
    watched_.outputs.err.say(text + '\n');
    ::kill(watched_.child, SIGTERM);
  }
  void kill_all() {
    is_killed_ = true;
    ::kill(-watched_.child, SIGKILL);  // also kills the programs, such as ssh, by which mpirun reaches other hosts
  }
  static constexpr std::chrono::seconds kGrace{2};
  /// Time that mpirun gets after a rank of this host has reported a failure. In it, mpirun ends the ranks of other
  /// hosts and forwards their messages. Without a limit, mpirun would wait for hosts that cannot be reached.
  static constexpr std::chrono::seconds kFailedGrace{1};
  /// Time that mpirun gets to end all ranks after a guard has reported that its rank was killed.
  static constexpr std::chrono::seconds kKilledGrace{3};
  static constexpr Clock::time_point kNever = Clock::time_point::max();
  const Watched& watched_;
  const GroupOptions& options_;
  Clock::time_point begin_ = Clock::now();
  /// Time at which the first rank of this host began to connect to the others.
  Clock::time_point connecting_ = kNever;
  Clock::time_point late_ = kNever;
  Clock::time_point failed_ = kNever;
  /// Time at which a guard reported that a signal ended its rank. During MPI_Init, Open MPI's mpirun may then hang.
  Clock::time_point killed_ = kNever;
  Clock::time_point ended_ = kNever;
  bool is_over_ = false;
  bool is_killed_ = false;
  bool has_begun_ = false;
  std::string late_text_;
};

/// How mpirun ended.
struct Waited {
  int status = 0;
  /// True if this program ended mpirun because mpirun was still running after the end of rank 0.
  bool is_overdue = false;
  /// True if this program ended mpirun before all ranks had started, and printed the reason.
  bool is_late = false;
  /// True if this program killed mpirun with SIGKILL.
  bool is_killed = false;
  /// True if all ranks had started.
  bool has_begun = false;
  /// Line about ranks that did not start in time (already printed), or did not end in time.
  std::string late_text{};
};

// Waits for mpirun and forwards signals. mpirun passes SIGUSR1 to all ranks; SIGTERM ends them. SIGUSR1 is held back
// until all ranks handle it, because it ends a process without a handler.
Waited wait_for(const Watched& watched, const GroupOptions& options, GroupEnd& end) {
  constexpr int kWhileMs = 100;
  constexpr int kWhileKeptMs = 1;  // short, so that output of a short run does not appear after its end
  LongStay stay(watched, options);
  int status = 0;
  int seen = 0;
  bool is_told = false;
  while (::waitpid(watched.child, &status, WNOHANG) == 0) {
    if (const int signal = watched.signals.take(); signal != 0) {
      end.signal = signal;
      // Launchers repeat SIGUSR1, and a closing terminal sends SIGHUP twice.
      const bool is_repeated = seen > 0 && (signal == SIGUSR1 || signal == SIGHUP);
      if (!is_repeated) ++seen;
      if (seen > 1 || options.on_signal == OnSignal::End) ::kill(watched.child, SIGTERM);
    }
    bool is_kept = seen == 1 && !is_told && options.on_signal == OnSignal::Save;
    if (is_kept && all_listen(watched)) {
      is_told = true;
      is_kept = false;
      ::kill(watched.child, SIGUSR1);
    }
    static_cast<void>(watched.outputs.pass_on(watched.signals, is_kept ? kWhileKeptMs : kWhileMs));
    stay.look();
  }
  watched.outputs.finish(watched.signals);
  return {.status = status,
          .is_overdue = stay.is_over(),
          .is_late = stay.is_late(),
          .is_killed = stay.is_killed(),
          .has_begun = all_listen(watched),
          .late_text = stay.late_text()};
}

// Waits until the ranks have ended. mpirun ends the guards (rank_guard.h), which end the ranks, but it does not wait
// for the ranks.
void wait_for_ranks(const dist::LaunchBoard& board) {
  constexpr int kMostMs = 5000;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(kMostMs);
  for (const int process : board.processes()) {
    // Uses the number of the system call, because glibc declares pidfd_open only for C
    const auto rank = static_cast<int>(::syscall(SYS_pidfd_open, process, 0U));
    if (rank < 0) continue;  // the rank has already ended
    pollfd look{.fd = rank, .events = POLLIN, .revents = 0};
    int found = -1;
    errno = EINTR;
    while (found < 0 && errno == EINTR) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now());
      found = ::poll(&look, 1, std::clamp(static_cast<int>(left.count()), 0, kMostMs));
    }
    ::close(rank);
  }
}

void require_mpirun(const std::string& program, int status) {
  if (!WIFEXITED(status)) return;
  if (WEXITSTATUS(status) == kNoProgram) {
    throw ConfigError(error_text("cli.launch", "--ranks", program + " on the PATH", "no such program",
                                 "installing openmpi-bin or mpich, starting with srun, or leaving out --ranks"));
  }
  if (WEXITSTATUS(status) == kNotRun) {
    throw ConfigError(error_text("cli.launch", "--ranks", program + " that can be executed",
                                 "a file that cannot be executed", "chmod +x, or another PATH"));
  }
}

// Prefers the exit code that the first failed rank itself reported. Open MPI's mpirun returns the code of another rank
// if that one ends earlier, and MPICH's combines the codes of all ranks.
int exit_code_of(const Waited& waited, std::optional<int> failure) {
  if (failure) return *failure;
  if (!WIFSIGNALED(waited.status)) return WEXITSTATUS(waited.status);
  return waited.is_killed ? kFailure : kKilled + WTERMSIG(waited.status);
}

// Returns a line about a failure that no rank has reported, such as a killed rank. Otherwise returns the messages of
// hydra (MPICH's launcher) about its own processes.
std::string why_it_ended(const Waited& waited, const dist::LaunchBoard& board, const Outputs& outputs, bool is_run,
                         GroupEnd& end) {
  std::optional<dist::KilledRank> killed = board.killed();
  if (killed) end.exit_code = kKilled + killed->signal;
  if (outputs.err_words.has_told()) return {};  // a rank on another host has reported its failure
  // A guard is the process that watches a rank. If the guard is killed, its rank dies too, and only mpirun's messages
  // say so. They are not read if this program itself sent a signal.
  if (!killed && end.signal == 0) killed = outputs.err_words.killed();
  const bool has_no_process = outputs.err_words.has_no_process();
  const bool is_signal = end.exit_code > kKilled && end.exit_code < kKilled + NSIG && !has_no_process;
  const bool is_asked =
      end.signal != 0 || waited.is_killed || board.has_failed() || first_failure(board, outputs).has_value();
  if (!killed && WIFSIGNALED(waited.status) && !is_asked) {
    const int signal = WTERMSIG(waited.status);
    return error_text("cli.launch", "mpirun", "a normal exit",
                      fmt::format("signal {} ({})", signal, ::strsignal(signal)),
                      is_run ? "--resume" : "running the command again") +
           '\n';
  }
  if (!killed && is_signal && !is_asked) killed = {.signal = end.exit_code - kKilled};
  if (killed) return text_of(*killed, killed->rank < 0 ? "" : board.place_of(killed->rank), is_run) + '\n';
  std::string said = outputs.err_words.complaints();
  if ((end.exit_code >= kKilled || has_no_process) && !is_asked && !waited.has_begun) {
    said += error_text("cli.launch", "mpirun", "all ranks to start",
                       has_no_process ? "a host on which it could not start a process"
                                      : fmt::format("exit code {}", end.exit_code),
                       "checking the message above, the names in --hosts, ssh without a password, and that the program "
                       "has this path there") +
            '\n';
  }
  return said;
}

std::string last_line(std::string_view lines) {
  lines.remove_suffix(lines.ends_with('\n') ? 1 : 0);
  return std::string(lines.substr(lines.rfind('\n') + 1));
}

}  // namespace

GroupEnd run_group(const std::vector<std::string>& command, const GroupOptions& options) {
  std::optional<HeldSignals> own;  // before the board, whose file would outlive a signal
  if (options.signals == nullptr) own.emplace();
  const HeldSignals& signals = options.signals == nullptr ? *own : *options.signals;
  const dist::LaunchBoard board(options.ranks);
  GroupEnd end;
  Outputs outputs{.error = &end.output_error,
                  .out_words = MpirunWords(options.is_tagged),
                  .err_words = MpirunWords(options.is_tagged)};
  std::signal(SIGPIPE, SIG_IGN);  // the ranks must continue if the reader of their output exits
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    signals.let_go();
    ::setenv(dist::LaunchBoard::kVariable, board.file().c_str(), 1);
    become(command, outputs, options.is_silent);
  }
  if (child < 0) {
    throw DeviceError(error_text("cli.launch", command[0], "a new process", std::strerror(errno), "fewer processes"));
  }
  outputs.close_write_ends();
  const Watched watched{.child = child, .signals = signals, .board = board, .outputs = outputs};
  const Waited waited = wait_for(watched, options, end);
  wait_for_ranks(board);
  if (waited.is_overdue) {
    outputs.err.say(waited.late_text + '\n');
    end.exit_code = first_failure(board, outputs).value_or(board.exit_code().value_or(kFailure));
    return end;
  }
  if (waited.is_late) {
    end.exit_code = kFailure;
    end.cause = waited.late_text;
    return end;
  }
  require_mpirun(command[0], waited.status);
  end.exit_code = exit_code_of(waited, first_failure(board, outputs));
  // After a signal from this program, mpirun returns its own exit code, so the ranks' exit code is taken from the
  // board.
  if (end.signal != 0 && board.exit_code()) {
    end.exit_code = *board.exit_code();
    return end;
  }
  const std::string why = why_it_ended(waited, board, outputs, options.has_resume, end);
  outputs.err.say(why);
  end.cause = why.empty() ? outputs.err_words.first_error() : last_line(why);
  return end;
}

}  // namespace roentgen::cli
