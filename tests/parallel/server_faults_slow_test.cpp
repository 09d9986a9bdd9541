// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests faults of workers and parameter servers in each phase. All processes must end within --comm-timeout plus five
// seconds, and one line must name rank and phase. Synchronous runs must resume to the same bits as a run without a
// fault, asynchronous runs to the same number of updates.
#include <fmt/format.h>

#include <cctype>
#include <tuple>

#include "tests/parallel/blow.h"

namespace roentgen::e2e {
namespace {

using testing::HasSubstr;

constexpr int kRanks = 3;  // two workers and a server

struct Place {
  const char* name;
  int rank;
  const char* step = "5";
  /// Update of the fault in asynchronous runs. "any", because a worker does not see every number of applied gradients.
  const char* async_step = "any";
};

constexpr Place kPlaces[] = {{"forward", 1},    {"gradient bucket 0", 1},
                             {"optimizer", 1},  {"server update", 2, "5", "20"},
                             {"checkpoint", 0}, {"validation", 1, "any"}};

class ServerFaults : public Struck, public testing::WithParamInterface<std::tuple<const char*, Fault, Place>> {
 protected:
  static std::string update() { return std::get<0>(GetParam()); }
  static Blow blow() {
    const auto& [update, fault, place] = GetParam();
    const bool is_async = std::string_view(update) == "async";
    return {.fault = fault,
            .place = place.name,
            .step = is_async ? place.async_step : place.step,
            .ranks = kRanks,
            .rank = place.rank};
  }
  std::vector<std::string> job(std::string_view run, const Blow& blow,
                               const std::vector<std::string>& more = {}) override {
    return plus(Struck::job(run, blow, {"--update", update()}), more);
  }
};

std::string line_with(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

TEST_P(ServerFaults, leave_no_process_and_name_the_rank) {
  const Blow blow = ServerFaults::blow();
  const Outcome outcome = strike("struck", blow);
  EXPECT_LE(outcome.seconds, kLimitS + 5.0);
  EXPECT_TRUE(all_gone(place_ / "struck"));
  std::string line;
  if (blow.fault == Fault::Terminate) {
    line = line_with(outcome.ended.out, "stopped at step");
    EXPECT_EQ(outcome.ended.code, 3) << outcome.ended.err;
    EXPECT_FALSE(line.empty()) << outcome.ended.out;
  } else {
    line = line_with(outcome.ended.err, blow.fault == Fault::Kill ? "got signal 9" : "no sign of");
    EXPECT_NE(outcome.ended.code, 0);
    EXPECT_THAT(line, HasSubstr("rank " + std::to_string(blow.rank) + " (")) << outcome.ended.err;
    if (blow.fault == Fault::Kill) {
      EXPECT_THAT(line, HasSubstr(", " + blow.place));
    }
    EXPECT_EQ(line_with(outcome.ended.err.substr(outcome.ended.err.find(line) + line.size()), "; try "), "")
        << "one cause: " << outcome.ended.err;
  }
  fmt::print("| {} | {} | {} | {:.1f} s | `{}` |\n", update(), blow.place, name_of(blow.fault), outcome.seconds, line);
  if (update() == "ps") return expect_same_bits_after_resume("struck", blow);
  const Ended rest = Process(job("struck", blow, {"--resume"}), place_.root()).wait();
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_THAT(rest.out, HasSubstr("best epoch"));
}

std::string name_of_case(const testing::TestParamInfo<ServerFaults::ParamType>& info) {
  const auto& [update, fault, place] = info.param;
  std::string name = fmt::format("{}_in_{}_of_rank_{}_{}", name_of(fault), place.name, place.rank, update);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ServerFaults,
                         testing::Combine(testing::Values("ps", "async"),
                                          testing::Values(Fault::Kill, Fault::Stop, Fault::Terminate),
                                          testing::ValuesIn(kPlaces)),
                         name_of_case);

}  // namespace
}  // namespace roentgen::e2e
