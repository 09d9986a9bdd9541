// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/case.h"

#include <utility>

#include "bench/harness.h"
#include "bench/options.h"

namespace roentgen::bench {
namespace {

class RepeatedCase final : public Case {
 public:
  RepeatedCase(std::string_view summary, std::string_view example, std::function<Value(const CaseOptions&)> run)
      : Case(summary, example), run_(std::move(run)) {}
  [[nodiscard]] std::vector<Option> options() override {
    return joined({sizes_.options({"--warmup", "--steps"}), network_.options({"--threads", "--oversubscribe"})});
  }
  [[nodiscard]] Value run(const Host& /*host*/) override {
    const NetworkOptions options = network_.checked(sizes_);
    return run_({.warmup = options.warmup, .repeats = options.steps, .threads = options.threads});
  }

 private:
  std::function<Value(const CaseOptions&)> run_;
  SizeArguments sizes_;
  NetworkArguments network_;
};

}  // namespace

std::unique_ptr<Case> make_repeated_case(std::string_view summary, std::string_view example,
                                         std::function<Value(const CaseOptions&)> run) {
  return std::make_unique<RepeatedCase>(summary, example, std::move(run));
}

}  // namespace roentgen::bench
