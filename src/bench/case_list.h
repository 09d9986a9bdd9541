// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of benchmark cases: X("name", identifier) declares `Value case_<identifier>(const CaseOptions&)`, which
// a file of its own defines. A new case is that file and one line here.
#pragma once

#include "bench/harness.h"

#define RG_CASE_LIST(X)                 \
  X("step", step)                       \
  X("data.decode_png", data_decode_png) \
  X("engine.batch_norm", engine_batch_norm)

namespace roentgen::bench {

#define RG_DECLARE_CASE(name, identifier) [[nodiscard]] Value case_##identifier(const CaseOptions& options);
RG_CASE_LIST(RG_DECLARE_CASE)
#undef RG_DECLARE_CASE

}  // namespace roentgen::bench
