// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The cases of `bench` with options of their own, and which options each takes. For bench.cpp.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace roentgen::cli {

/// A set of cases is a sum of these.
inline constexpr unsigned kStep = 1, kPipeline = 2, kOverlap = 4, kAblation = 8, kFormats = 16, kExperiment = 32,
                          kAllreduce = 64, kLinks = 128, kInfer = 256, kFusion = 512, kScaling = 1024, kPeers = 2048,
                          kPredict = 4096, kNodes = 8192, kAutobatch = 16384, kChoose = 32768, kOther = 1U << 31U;
inline constexpr unsigned kWithInput = kPipeline | kOverlap | kAblation | kFormats | kExperiment;
inline constexpr unsigned kMayHaveInput = kWithInput | kScaling;
/// Launched as several ranks.
inline constexpr unsigned kOverRanks = kAllreduce | kLinks;
inline constexpr unsigned kOfRounds =
    kOverlap | kAblation | kFormats | kExperiment | kOverRanks | kInfer | kFusion | kPeers;
inline constexpr unsigned kWithRecords = kFormats | kExperiment;
inline constexpr unsigned kOfOneModel = kStep | kOverlap | kInfer | kScaling | kPredict | kNodes | kAutobatch;
/// Their networks are trained.
inline constexpr unsigned kTraining =
    kStep | kOverlap | kScaling | kPredict | kExperiment | kFusion | kNodes | kAutobatch | kChoose;
inline constexpr unsigned kWithModel = kOfOneModel | kExperiment;
/// Only computing: no images from files.
inline constexpr unsigned kComputing = kStep | kInfer | kFusion | kPredict | kNodes | kChoose;
inline constexpr unsigned kAll = kComputing | kAutobatch | kPeers | kWithInput | kOverRanks | kScaling | kOther;

struct BenchCase {
  std::string_view name;
  unsigned bit;
};
inline constexpr std::array kBenchCases = {BenchCase{"step", kStep},
                                           BenchCase{"pipeline", kPipeline},
                                           BenchCase{"overlap", kOverlap},
                                           BenchCase{"formats", kFormats},
                                           BenchCase{"ablation", kAblation},
                                           BenchCase{"experiment", kExperiment},
                                           BenchCase{"allreduce", kAllreduce},
                                           BenchCase{"links", kLinks},
                                           BenchCase{"infer", kInfer},
                                           BenchCase{"fusion", kFusion},
                                           BenchCase{"scaling", kScaling},
                                           BenchCase{"peers", kPeers},
                                           BenchCase{"predict-scaling", kPredict},
                                           BenchCase{"nodes", kNodes},
                                           BenchCase{"autobatch", kAutobatch},
                                           BenchCase{"choose", kChoose}};

/// kOther for names that are not among kBenchCases.
[[nodiscard]] unsigned bit_of(std::string_view name);
/// Every case that `bench` runs.
[[nodiscard]] std::vector<std::string_view> all_cases();
/// ConfigError that lists all cases where `name` is none.
void check_case(std::string_view name);
/// "pipeline, overlap".
[[nodiscard]] std::string names_of(unsigned cases);

/// An option and the cases that take it.
struct CaseOption {
  unsigned cases = kAll;
  Option option;
};

/// The value of a target as text, to tell whether it was given.
[[nodiscard]] std::string held(const Target& target);

/// What stands between commas.
[[nodiscard]] std::vector<std::string> names_in(std::string_view text);

}  // namespace roentgen::cli
