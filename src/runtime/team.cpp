// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/team.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

#include "core/log.h"
#include "runtime/cores.h"

namespace roentgen::runtime {

int given_team(int wanted) {
  const bool may_fork = omp_get_active_level() < omp_get_max_active_levels();
  const int given = may_fork ? std::min(wanted, omp_get_thread_limit()) : std::min(wanted, 1);
  if (given == wanted) return given;
  static const bool is_told = [&] {
    log::warning(
        fmt::format("OpenMP gives {} of {} threads (OMP_THREAD_LIMIT or OMP_MAX_ACTIVE_LEVELS): computing "
                    "with {}",
                    given, wanted, given));
    return true;
  }();
  static_cast<void>(is_told);
  return given;
}

int prepare_team(int threads) {
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  int members = 1;
#pragma omp parallel num_threads(threads)
  {
    flush_denormals_to_zero();
    if (omp_get_thread_num() == 0) members = omp_get_num_threads();
  }
  return members;
}

void run_team(int threads, const std::function<void(int thread)>& work) {
#pragma omp parallel num_threads(threads)
  work(omp_get_thread_num());
}

}  // namespace roentgen::runtime
