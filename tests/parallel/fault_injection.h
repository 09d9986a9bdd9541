// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests of failures: trains with several ranks and causes a fault in one of them, in a given phase of its work,
// with and without `--restart`.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "tests/parallel/folder_watch.h"
#include "tests/parallel/launch.h"

namespace roentgen::e2e {

enum class FaultKind { Kill, Stop, Terminate, Cut };

/// A fault: its kind, the rank, and the phase and update in which it occurs.
struct Fault {
  FaultKind kind = FaultKind::Kill;
  /// Phase of the work, as in dist::Phase::text().
  std::string place;
  /// Number of the update, from 0, or "any", or "5+" for 5 or later (held_reach.cpp).
  std::string step = "5";
  int ranks = 2;
  int rank = 1;
  /// True if half of the ranks run on a second host. Only links between two hosts can be cut.
  bool has_two_hosts = kind == FaultKind::Cut;
  bool is_traced = false;
};

/// Starts of a job in which faults may be caused.
struct Starts {
  int restarts = 0;                 ///< value of `--restart`; 0: none
  int faults = 1;                   ///< number of starts with a fault; later starts have none
  std::vector<std::string> more{};  ///< further arguments
};

/// Result of a job with faults.
struct Outcome {
  Ended ended;
  /// Time from the last fault until all processes had ended.
  double seconds = 0.0;
};

inline std::string name_of(FaultKind kind) {
  return kind == FaultKind::Kill        ? "kill"
         : kind == FaultKind::Stop      ? "stop"
         : kind == FaultKind::Terminate ? "terminate"
                                        : "cut";
}

/// Fixture for tests of faults. Runs write a checkpoint every two updates.
class FaultInjection : public Launch {
 protected:
  /// Value of --comm-timeout for jobs with a fault, and for jobs without one, which may be slow on a busy machine.
  static constexpr int kLimitS = 5, kLimitWithoutFaultS = 60;
  /// Additional arguments of every job.
  virtual std::vector<std::string> more() const { return {}; }

  virtual std::vector<std::string> job(std::string_view run, const Fault& fault,
                                       const std::vector<std::string>& more = {}) {
    std::vector<std::string> words =
        train(run, {"--ranks", std::to_string(fault.ranks), "--oversubscribe", "--comm-timeout",
                    std::to_string(kLimitS), "--set", "train.checkpoint_steps=2", "--set", "train.epochs=2", "--set",
                    "train.batch=4", "--set", "train.bucket_mb=0.01"});
    if (fault.has_two_hosts) {
      const std::string each = std::to_string(fault.ranks / 2);
      words = plus(words, {"--hosts", "10.99.0.1:" + each + ",10.99.0.2:" + each});
    }
    if (fault.is_traced) words.emplace_back("--trace");
    return plus(plus(words, this->more()), more);
  }
  /// Command that starts a job on two hosts with a link that can be cut; empty for other jobs.
  static std::vector<std::string> hosts(const Fault& fault) {
    if (!fault.has_two_hosts) return {};
    ::setenv("EMULATED_HOSTS", host_name().c_str(), 1);
    return {std::string(std::getenv("ROENTGEN_SOURCE_DIR")) + "/tools/emulated_hosts.sh", "2", "none"};
  }
  /// True if this machine can emulate hosts by network namespaces.
  static bool has_hosts() {
    return ::system("ip netns add rgprobe 2>/dev/null && ip netns del rgprobe && command -v tc >/dev/null") == 0;
  }

  /// Starts a training into `run`, causes the fault each time the rank reaches the phase, and waits for the end.
  Outcome inject(std::string_view run, const Fault& fault, const Starts& starts = {}) {
    const fs::path sign = place_ / (std::string(run) + ".held");
    const std::string hold = std::to_string(fault.rank) + ":" + fault.place + ":" + fault.step + ":" + sign.string();
    std::vector<std::string> more = starts.more;
    if (starts.restarts > 0) more = plus(more, {"--restart", std::to_string(starts.restarts)});
    ::setenv("ROENTGEN_HOLD", hold.c_str(), 1);
    Process process(job(run, fault, more), place_.root(), hosts(fault), RG_HELD_PROGRAM);
    ::unsetenv("ROENTGEN_HOLD");
    const FolderWatch folder(place_.root());
    int injected = 0;
    std::string last;
    auto begin = std::chrono::steady_clock::now();
    while (process.is_running()) {
      folder.forget();
      const std::string pid = fs::exists(sign) ? read_all(sign) : "";
      if (pid.ends_with('\n') && pid != last) {
        last = pid;
        if (injected++ < starts.faults) {
          begin = std::chrono::steady_clock::now();
          hit(fault, std::stoi(pid));
        }
        fs::remove(sign);  // lets the rank continue without a fault
      }
      if (process.is_running()) process.pause(kLongest, folder.descriptor());
    }
    EXPECT_GE(injected, starts.faults) << "never at " << fault.place;
    Outcome outcome{.ended = process.wait()};
    wait_until_gone(place_ / run, fault);
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return outcome;
  }
  /// Runs a job without a fault.
  Ended run_to_end(std::string_view run, const Fault& fault, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = job(run, fault, more);
    *std::next(std::ranges::find(words, "--comm-timeout")) = std::to_string(kLimitWithoutFaultS);
    return Process(words, place_.root(), hosts(fault), RG_HELD_PROGRAM).wait();
  }

  static void hit(const Fault& fault, pid_t pid) {
    if (fault.kind == FaultKind::Kill) ::kill(pid, SIGKILL);
    if (fault.kind == FaultKind::Stop) ::kill(pid, SIGSTOP);
    if (fault.kind == FaultKind::Terminate) ::kill(pid, SIGTERM);
    if (fault.kind != FaultKind::Cut) return;
    EXPECT_EQ(::system(("ip -n " + host_name() + "br link set port2 down").c_str()), 0);
  }

  /// Expects the weights of a run without a fault, bit for bit.
  void expect_same_bits(std::string_view run, const Fault& fault) {
    const std::string whole = "whole" + std::to_string(fault.ranks);
    if (!fs::exists(place_ / whole)) {
      EXPECT_EQ(run_to_end(whole, fault).code, 0);
    }
    expect_equal_tensors(place_ / run / "checkpoints/resume.safetensors",
                         place_ / whole / "checkpoints/resume.safetensors");
  }

  /// Resumes the run to its end, and expects the weights of a run without a fault, bit for bit.
  void expect_same_bits_after_resume(std::string_view run, const Fault& fault) {
    const std::string log = read_all(place_ / run / "log.jsonl");
    std::int64_t updates = 0;
    for (std::size_t at = log.find("\"loss\""); at != std::string::npos; at = log.find("\"loss\"", at + 1)) ++updates;
    const Ended rest = run_to_end(run, fault, {"--resume"});
    EXPECT_EQ(rest.code, 0) << rest.err;
    if (updates == 0) {
      EXPECT_THAT(rest.err, testing::HasSubstr("no run to resume: starting a new one"));
      return expect_same_bits(run, fault);
    }
    const std::string_view told = "resumed at step ";
    const std::size_t at = rest.err.find(told);
    ASSERT_NE(at, std::string::npos) << rest.err;
    EXPECT_GE(std::stoll(rest.err.substr(at + told.size())), updates - 2) << "more is lost than since the checkpoint";
    expect_same_bits(run, fault);
  }

 private:
  /// Limit of a wait, so that a test ends if a process stays.
  static constexpr std::chrono::seconds kLongest{60};

  /// Waits for the ranks and guards of a run, and for daemons on a host that was cut off. Ends those that stay.
  static void wait_until_gone(const fs::path& run, const Fault& fault) {
    const auto left = [&] { return plus_daemons(ranks_in(run, Of::RanksAndGuards), fault); };
    for (std::vector<pid_t> processes = left(); !processes.empty(); processes = left()) {
      if (wait_for_ends(processes, kLongest)) continue;
      ADD_FAILURE() << processes.size() << " processes stay";
      for (const pid_t process : processes) ::kill(process, SIGKILL);
    }
  }
  /// Adds the daemons of mpirun on emulated hosts to a list of processes.
  static std::vector<pid_t> plus_daemons(std::vector<pid_t> processes, const Fault& fault) {
    if (!fault.has_two_hosts) return processes;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      if (words_of(entry.path() / "environ").find("EMULATED_HOSTS=" + host_name()) == std::string::npos) continue;
      const std::string name = words_of(entry.path() / "comm");
      if (name == "orted\n" || name == "hydra_pmi_proxy\n") processes.push_back(std::stoi(entry.path().filename()));
    }
    return processes;
  }
  static std::string host_name() { return "rg" + std::to_string(::getpid()) + "h"; }
};

}  // namespace roentgen::e2e
