// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests every fault in every phase: all processes end within --comm-timeout plus five seconds. One line names the rank
// and the phase, and --resume gives the same bits as a run without a fault. Prints a line for the table in
// docs/reference/ranks.md.
#include <fmt/format.h>

#include <cctype>
#include <tuple>

#include "tests/parallel/blow.h"

namespace roentgen::e2e {
namespace {

using testing::HasSubstr;

struct Place {
  const char* name;
  const char* step;
  /// True if the first rank fails, which alone writes files; false if the last one fails.
  bool is_of_first = false;
};

constexpr Place kPlaces[] = {{"input", "5"},     {"forward", "5"},          {"gradient bucket 0", "5"},
                             {"optimizer", "5"}, {"checkpoint", "5", true}, {"validation", "any"}};

class FaultMatrix : public Struck, public testing::WithParamInterface<std::tuple<int, Fault, Place>> {
 protected:
  static Blow blow() {
    const auto& [ranks, fault, place] = GetParam();
    return {.fault = fault,
            .place = place.name,
            .step = place.step,
            .ranks = ranks,
            .rank = place.is_of_first ? 0 : ranks - 1};
  }
};

// The first line of `text` that contains `part`.
std::string line_with(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

TEST_P(FaultMatrix, leaves_no_process_and_loses_no_more_than_since_the_checkpoint) {
  const Blow blow = FaultMatrix::blow();
  if (blow.fault == Fault::Cut && !has_hosts()) {
    GTEST_SKIP() << "no network namespaces can be made here: no link can be cut";
  }
  const Outcome outcome = strike("struck", blow);
  EXPECT_LE(outcome.seconds, kLimitS + 5.0);
  EXPECT_TRUE(all_gone(place_ / "struck"));
  const std::string who = "rank " + std::to_string(blow.rank) + " (";
  std::string line;
  if (blow.fault == Fault::Terminate) {
    line = line_with(outcome.ended.out, "stopped at step");
    EXPECT_EQ(outcome.ended.code, 3) << outcome.ended.err;
    EXPECT_FALSE(line.empty()) << outcome.ended.out;
  } else {
    line = line_with(outcome.ended.err, blow.fault == Fault::Kill ? "got signal 9" : "no sign of");
    EXPECT_NE(outcome.ended.code, 0);
    EXPECT_THAT(line, HasSubstr(blow.fault == Fault::Cut ? "rank" : who)) << outcome.ended.err;
    if (blow.fault == Fault::Kill) {
      EXPECT_THAT(line, HasSubstr(", " + blow.place));
    }
    EXPECT_EQ(line_with(outcome.ended.err.substr(outcome.ended.err.find(line) + line.size()), "; try "), "")
        << "one cause: " << outcome.ended.err;
  }
  fmt::print("| {} | {} | {} | {:.1f} s | `{}` |\n", blow.place, name_of(blow.fault), blow.ranks, outcome.seconds,
             line);
  expect_same_bits_after_resume("struck", blow);
}

std::string name_of_case(const testing::TestParamInfo<FaultMatrix::ParamType>& info) {
  const auto& [ranks, fault, place] = info.param;
  std::string name = fmt::format("{}_in_{}_of_{}", name_of(fault), place.name, ranks);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, FaultMatrix,
                         testing::Combine(testing::Values(2, 4),
                                          testing::Values(Fault::Kill, Fault::Stop, Fault::Terminate, Fault::Cut),
                                          testing::ValuesIn(kPlaces)),
                         name_of_case);

}  // namespace
}  // namespace roentgen::e2e
