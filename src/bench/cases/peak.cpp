// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/peak.h"

#include <memory>

#include "bench/case_list.h"
#include "bench/harness.h"
#include "bench/options.h"

namespace roentgen::bench {
namespace {

class PeakCase final : public Case {
 public:
  PeakCase()
      : Case("FLOP/s of a product of matrices and bandwidth of a copy, the limits of this machine",
             "roentgen bench peak --threads 2") {}
  [[nodiscard]] std::vector<Option> options() override {
    return network_.options({"--device", "--threads", "--oversubscribe", "--dtype"});
  }
  [[nodiscard]] Value run(const Host& /*host*/) override {
    const NetworkOptions options = network_.checked(sizes_);
    const Peak peak = measure_peak(options);
    Value result = settings_of("peak", options, {"threads", "device", "dtype"});
    result.set("gflop_per_s", peak.gflops);
    result.set("gb_per_s", peak.gb_per_s);
    result.set("peak", Value::Table{{"gflops", peak.gflops}, {"gb_per_s", peak.gb_per_s}});
    add_environment(result);
    return result;
  }

 private:
  SizeArguments sizes_;
  NetworkArguments network_;
};

}  // namespace

std::unique_ptr<Case> make_peak_case() { return std::make_unique<PeakCase>(); }

}  // namespace roentgen::bench
