// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// `bench choose` with its options.
#pragma once

#include "core/value.h"

namespace roentgen::cli {

struct BenchArguments;

/// Every model with every batch that the options name. Throws as bench::run_choose() and graph_of_file().
[[nodiscard]] Value run_choose_case(const BenchArguments& in);

}  // namespace roentgen::cli
