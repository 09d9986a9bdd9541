// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests every fault in every phase of the trainings of this executable. All processes end within --comm-timeout plus
// five seconds, and one line names the rank and the phase. --resume and --restart finish the training, with the bits of
// an undisturbed run if it is synchronous. Prints a line for the table in docs/results/robustness.md.
#include "tests/parallel/fault_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace roentgen::e2e {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class OneFault : public FaultInjection, public testing::WithParamInterface<FaultCase> {
 protected:
  void SetUp() override {
    if (fault().kind == FaultKind::Cut && !has_hosts()) {
      GTEST_SKIP() << "no network namespaces can be made here: no link can be cut";
    }
  }
  std::vector<std::string> more() const override { return training().arguments; }
  static const Training& training() { return GetParam().training; }
  static const Fault& fault() { return GetParam().fault; }
};

// The first line of `text` that contains `part`.
std::string line_with(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

// True if a line reports a rank of the second host as missing.
bool names_second_host(const Fault& fault, const std::string& line) {
  const std::string missing = line.substr(std::min(line.find("no sign of "), line.size()));
  for (int rank = fault.ranks / 2; rank < fault.ranks; ++rank) {
    if (missing.find(fmt::format(" {} (", rank)) != std::string::npos) return true;
  }
  return false;
}

// Line in which the program names the ranks that prevent the start or the end of the others.
std::string expect_late_ranks(const FaultCase& each, const Ended& ended) {
  const Fault& fault = each.fault;
  const std::string line = line_with(ended.err, "[cli.launch] ");
  EXPECT_EQ(ended.code == 0, each.is_after_work()) << ended.err;
  if (fault.kind == FaultKind::Stop) {
    EXPECT_THAT(line, HasSubstr(fmt::format("rank {} (", fault.rank)));
    EXPECT_THAT(line, HasSubstr(", got a stopped process"));
  } else {
    const bool is_one = fault.ranks == 2;
    EXPECT_THAT(line, HasSubstr(is_one ? "rank 1, " : "ranks 2, 3, "));
    EXPECT_THAT(line, HasSubstr(is_one ? ", got no sign of this process" : ", got no sign of these processes"));
  }
  EXPECT_THAT(line, HasSubstr(fmt::format(", {}: expected ", fault.place)));
  return line;
}

// Line by which the program said why it ended.
std::string expect_cause(const FaultCase& each, const Ended& ended) {
  const Fault& fault = each.fault;
  if (fault.kind == FaultKind::Terminate && each.is_after_work()) {
    EXPECT_EQ(ended.code, 0) << ended.err;
    const std::string line = line_with(ended.out, "run: ");
    EXPECT_FALSE(line.empty()) << ended.out;
    return line;
  }
  if (fault.kind == FaultKind::Terminate) {
    EXPECT_EQ(ended.code, 3) << ended.err;
    const std::string line = line_with(ended.out, "stopped at step");
    EXPECT_FALSE(line.empty()) << ended.out;
    return line;
  }
  const bool is_late = fault.kind != FaultKind::Kill && (each.prevents_start() || each.is_after_work());
  if (is_late) return expect_late_ranks(each, ended);
  const std::string line = line_with(ended.err, fault.kind == FaultKind::Kill ? "got signal 9" : "no sign of");
  EXPECT_NE(ended.code, 0);
  if (fault.kind == FaultKind::Cut) {
    EXPECT_TRUE(names_second_host(fault, line)) << ended.err;
  } else {
    EXPECT_THAT(line, HasSubstr(fmt::format("rank {} (", fault.rank))) << ended.err;
  }
  if (fault.kind == FaultKind::Kill) {
    EXPECT_THAT(line, HasSubstr(", " + fault.place));
  } else {  // the phase in which the other ranks waited
    EXPECT_THAT(line, ContainsRegex(R"(\[[a-z.]+\] [a-z][a-z0-9 ]*: expected )")) << ended.err;
  }
  EXPECT_EQ(line_with(ended.err.substr(ended.err.find(line) + line.size()), "; try "), "")
      << "one cause: " << ended.err;
  return line;
}

class FaultMatrix : public OneFault {};

TEST_P(FaultMatrix, leaves_no_process_and_loses_no_more_than_since_the_checkpoint) {
  const Outcome outcome = inject("faulty", fault());
  EXPECT_LE(outcome.seconds, kLimitS + 5.0);
  const std::string line = expect_cause(GetParam(), outcome.ended);
  fmt::print("| {} | {} | {} | {:.1f} s | `{}` |\n", training().name, fault().place, name_of(fault().kind),
             outcome.seconds, line);
  if (training().is_synchronous) return expect_same_bits_after_resume("faulty", fault());
  const Ended rest = run_to_end("faulty", fault(), {"--resume"});
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_THAT(rest.out, HasSubstr("best epoch"));
}

class RestartMatrix : public OneFault {};

TEST_P(RestartMatrix, finishes_the_training) {
  const Outcome outcome = inject("run", fault(), {.restarts = 1});
  EXPECT_EQ(outcome.ended.code, 0) << outcome.ended.err;
  EXPECT_THAT(outcome.ended.out, HasSubstr("best epoch"));
  // No rank failed if the others had to wait only for its end.
  if (GetParam().is_after_work() && fault().kind != FaultKind::Kill) {
    EXPECT_THAT(outcome.ended.err, Not(HasSubstr("restart")));
    if (training().is_synchronous) expect_same_bits("run", fault());
    return;
  }
  if (fault().kind == FaultKind::Cut) {
    const int left = fault().ranks / 2;
    EXPECT_THAT(outcome.ended.err, HasSubstr("restart: 10.99.0.2 does not answer, and is left out"));
    EXPECT_THAT(outcome.ended.err, HasSubstr(fmt::format("restart 1 of 1: {} rank", left)));
    return;
  }
  // An asynchronous rank may fail while the first rank, which is slower, has not yet saved a checkpoint.
  const char* const from = GetParam().prevents_start() ? "the beginning" : training().is_synchronous ? "update " : "";
  EXPECT_THAT(outcome.ended.err, HasSubstr(fmt::format("restart 1 of 1: {} ranks go on from {}", fault().ranks, from)));
  if (training().is_synchronous) expect_same_bits("run", fault());
}

std::string name_of_case(const testing::TestParamInfo<FaultCase>& info) {
  const Fault& fault = info.param.fault;
  std::string name = info.param.training.name + "_in_" + fault.place;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kill, FaultMatrix, testing::ValuesIn(fault_cases(FaultKind::Kill)), name_of_case);
INSTANTIATE_TEST_SUITE_P(Stop, FaultMatrix, testing::ValuesIn(fault_cases(FaultKind::Stop)), name_of_case);
INSTANTIATE_TEST_SUITE_P(Terminate, FaultMatrix, testing::ValuesIn(fault_cases(FaultKind::Terminate)), name_of_case);
INSTANTIATE_TEST_SUITE_P(Cut, FaultMatrix, testing::ValuesIn(fault_cases(FaultKind::Cut)), name_of_case);
// SIGTERM is a request to stop, after which nothing is started again.
INSTANTIATE_TEST_SUITE_P(Kill, RestartMatrix, testing::ValuesIn(fault_cases(FaultKind::Kill)), name_of_case);
INSTANTIATE_TEST_SUITE_P(Stop, RestartMatrix, testing::ValuesIn(fault_cases(FaultKind::Stop)), name_of_case);
INSTANTIATE_TEST_SUITE_P(Cut, RestartMatrix, testing::ValuesIn(fault_cases(FaultKind::Cut)), name_of_case);

}  // namespace
}  // namespace roentgen::e2e
