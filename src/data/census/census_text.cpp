// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Formats a census as text and as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "core/plural.h"
#include "core/value.h"
#include "data/census/census.h"

namespace roentgen::data {
namespace {

std::map<std::string, std::int64_t> reasons_of(const Census& census) {
  std::map<std::string, std::int64_t> reasons;
  for (const BrokenImage& image : census.broken) ++reasons[image.reason];
  return reasons;
}

std::vector<std::string> warnings_of(const Census& census) {
  std::vector<std::string> warnings;
  if (!census.broken.empty()) {
    warnings.push_back(fmt::format("{} of {} cannot be read", census.broken.size(), counted(census.images, "image")));
  }
  if (census.duplicates.across_splits > 0) {
    warnings.push_back(counted(census.duplicates.across_splits, "image is", "images are") +
                       " in two of train, val and test");
  }
  if (census.duplicates.across_patients > 0) {
    warnings.push_back(counted(census.duplicates.across_patients, "image belongs to different patients",
                               "images belong to different patients each"));
  }
  for (const auto& [form, range] : census.ranges) {
    if (range.is_narrow()) {
      warnings.push_back(fmt::format("{}: gray values from {} to {} use less than a quarter of the range 0 to {}", form,
                                     range.lowest, range.highest, range.white));
    } else if (range.below_a_quarter > 0) {
      warnings.push_back(fmt::format("{}: {} less than a quarter of the range 0 to {}", form,
                                     counted(range.below_a_quarter, "image uses", "images use"), range.white));
    }
  }
  return warnings;
}

/// Text such as "1024x1024 px 70, 512x400 px 3, and 9 other sizes from 64x64 to 2048x1800".
std::string sizes_text(const Census& census) {
  constexpr std::size_t kShown = 5;
  std::vector<std::pair<std::int64_t, std::pair<std::int64_t, std::int64_t>>> sizes;
  for (const auto& [size, count] : census.sizes) sizes.emplace_back(-count, size);
  std::ranges::sort(sizes);
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, sizes.size()); ++i) {
    const auto& [count, size] = sizes[i];
    text += fmt::format("{}{}x{} px {}", i == 0 ? "" : ", ", size.first, size.second, -count);
  }
  if (sizes.size() <= kShown) return text;
  std::pair least = sizes.front().second, most = least;
  for (const auto& [count, size] : sizes) {
    least = {std::min(least.first, size.first), std::min(least.second, size.second)};
    most = {std::max(most.first, size.first), std::max(most.second, size.second)};
  }
  return text + fmt::format(", {}; width {} to {}, height {} to {}",
                            counted(static_cast<std::int64_t>(sizes.size() - kShown), "other size"), least.first,
                            most.first, least.second, most.second);
}

std::string counts_text(const std::map<std::string, std::int64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  return text.empty() ? "none" : text;
}

std::string_view depth_name(CensusDepth depth) { return depth == CensusDepth::Pixels ? "pixels" : "headers"; }

}  // namespace

std::string to_text(const Census& census) {
  constexpr double kMiB = 1024.0 * 1024.0;
  const bool is_decoded = census.depth == CensusDepth::Pixels;
  const SameImages& same = census.duplicates;
  std::string text = fmt::format("{:<9} {}, {:.1f} MiB; {}\n", "files", counted(census.images, "image"),
                                 static_cast<double>(census.bytes) / kMiB, counts_text(census.forms));
  if (!census.sizes.empty()) text += fmt::format("{:<9} {}\n", "sizes", sizes_text(census));
  for (const auto& [form, range] : census.ranges) {
    text += fmt::format("{:<9} {}: {} to {} of {}\n", "gray", form, range.lowest, range.highest, range.white);
  }
  text += fmt::format("{:<9} {} ({})\n", "broken", counts_text(reasons_of(census)),
                      is_decoded ? "all were decoded" : "by their headers; --pixels decodes all");
  text += same.groups == 0 ? fmt::format("{:<9} none", "same")
                           : fmt::format("{:<9} {} more than once, {} in all", "same",
                                         counted(same.groups, "image comes", "images come"), same.images);
  text += is_decoded ? " (by their pixels)\n" : " (by the bytes of their files; --pixels compares pixels)\n";
  for (const std::string& warning : warnings_of(census)) text += fmt::format("{:<9} {}\n", "WARNING", warning);
  return text;
}

Value to_value(const Census& census) {
  Value table = Value::table();
  table.set("depth", depth_name(census.depth));
  table.set("images", census.images);
  table.set("bytes", static_cast<std::int64_t>(census.bytes));
  Value& forms = table.set("forms", Value::table());
  for (const auto& [form, count] : census.forms) forms.set(form, count);
  Value& sizes = table.set("sizes", Value::array());
  for (const auto& [size, count] : census.sizes) {
    sizes.push_back(Value::Table{{"width", size.first}, {"height", size.second}, {"images", count}});
  }
  Value reasons = Value::table();
  for (const auto& [reason, count] : reasons_of(census)) reasons.set(reason, count);
  table.set("broken", Value::Table{{"images", std::int64_t{std::ssize(census.broken)}}, {"reasons", reasons}});
  const SameImages& same = census.duplicates;
  table.set("duplicates", Value::Table{{"groups", same.groups},
                                       {"images", same.images},
                                       {"across_splits", same.across_splits},
                                       {"across_patients", same.across_patients}});
  Value& gray = table.set("gray", Value::table());
  for (const auto& [form, range] : census.ranges) {
    gray.set(form, Value::Table{{"lowest", std::int64_t{range.lowest}},
                                {"highest", std::int64_t{range.highest}},
                                {"white", std::int64_t{range.white}},
                                {"below_a_quarter", range.below_a_quarter}});
  }
  Value& warnings = table.set("warnings", Value::array());
  for (const std::string& warning : warnings_of(census)) warnings.push_back(warning);
  return table;
}

}  // namespace roentgen::data
