// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/leak_report.h"

#include "core/error.h"
#include "core/log.h"
#include "core/terminal.h"

namespace roentgen::cli {

void report_leak(const std::string& leak, const std::string& clean, eval::OnOverlap on_overlap) {
  if (leak.empty()) {
    terminal::print(clean + "\n");
    return;
  }
  if (on_overlap == eval::OnOverlap::Refuse) throw DataError(leak);
  log::warning(leak);
}

eval::PixelOverlap check_pixels(std::span<const std::string> training, std::span<const std::string> tested,
                                eval::OnOverlap on_overlap) {
  const eval::PixelOverlap overlap = eval::pixel_overlap(training, tested);
  report_leak(eval::pixel_leak_text(overlap), eval::clean_pixels_text(overlap), on_overlap);
  return overlap;
}

}  // namespace roentgen::cli
