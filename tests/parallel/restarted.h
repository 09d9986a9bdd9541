// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests of `train --restart`: a training that starts again after each fault.
#pragma once

#include <fmt/format.h>

#include "tests/parallel/blow.h"

namespace roentgen::e2e {

/// Fixture for tests of restarts.
class Restarted : public Struck {
 protected:
  /// Starts a training into `run` with `--restart`. Causes the fault in the first `blows` starts that reach its phase;
  /// later starts have no fault. Waits for the end.
  Outcome strike_each(std::string_view run, const Blow& blow, int restarts, int blows,
                      const std::vector<std::string>& more = {}) {
    const fs::path sign = place_ / (std::string(run) + ".held");
    const std::string hold = fmt::format("{}:{}:{}:{}", blow.rank, blow.place, blow.step, sign.string());
    const std::vector<std::string> words = job(run, blow, plus({"--restart", std::to_string(restarts)}, more));
    const std::vector<std::string> starter = hosts(blow);
    ::setenv("ROENTGEN_HOLD", hold.c_str(), 1);
    Process process(words, place_.root(), starter, RG_HELD_PROGRAM);
    ::unsetenv("ROENTGEN_HOLD");
    int struck = 0;
    std::string last;
    const auto begin = std::chrono::steady_clock::now();
    while (process.is_running()) {
      const std::string pid = fs::exists(sign) ? read_all(sign) : "";
      if (pid.ends_with('\n') && pid != last) {
        last = pid;
        if (struck++ < blows) hit(blow, std::stoi(pid));
        fs::remove(sign);  // lets go of a rank that was not struck
      }
      std::this_thread::yield();
    }
    EXPECT_GE(struck, blows) << "never at " << blow.place;
    Outcome outcome{.ended = process.wait()};
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_TRUE(all_gone(place_ / run));
    return outcome;
  }
};

}  // namespace roentgen::e2e
