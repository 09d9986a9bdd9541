// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plots of the report of benchmark records, as inline SVG. Internal to report*.cpp.
#pragma once

#include <string>
#include <vector>

#include "bench/ledger/figures.h"
#include "bench/ledger/published.h"

namespace roentgen::bench {

/// Plots the speed of every record by its number, a plot for each group with at least two records. Empty without any.
[[nodiscard]] std::string throughput_plots(const std::vector<RecordGroup>& groups);

/// Plots throughput and efficiency by the number of devices, up to 16, for each measured model and image size. Shows a
/// line of equal settings for each hardware, and at most two published series beside images of at least
/// kPublishedImagePx. Leaves out models with neither published speeds nor several numbers of devices. Efficiency is the
/// speed divided by the number of devices times the speed of one.
[[nodiscard]] std::string scaling_plots(const std::vector<OwnSpeed>& speeds);

/// Plots the rate of each kind of kernel by its FLOPs per byte, both logarithmic, a plot for each group with a profile.
/// The line is the lower of the measured FLOP/s and the measured bandwidth times FLOPs per byte. These limits come from
/// the record itself, or from the latest record of the same machine that has them. Empty without profiles.
[[nodiscard]] std::string roofline_plots(const std::vector<RecordGroup>& groups);

/// Plots images per joule by images per second of all groups with a known energy. Empty without any.
[[nodiscard]] std::string energy_plot(const std::vector<RecordGroup>& groups);

}  // namespace roentgen::bench
