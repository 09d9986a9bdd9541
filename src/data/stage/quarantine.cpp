// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/quarantine.h"

#include <fmt/format.h>

#include <fstream>
#include <utility>

#include "core/error.h"
#include "core/error_parts.h"
#include "core/foreign_text.h"
#include "core/log.h"
#include "data/stage/bad_share.h"
#include "io/csv.h"

namespace roentgen::data {

Quarantine::Quarantine(std::int64_t samples, double max_bad_share, std::filesystem::path file,
                       const std::vector<std::uint32_t>& known)
    : samples_(samples), max_bad_share_(max_bad_share), file_(std::move(file)), known_(known.begin(), known.end()) {
  std::error_code error;
  if (file_.empty() || !std::filesystem::exists(file_, error)) return;
  // In a resumed run, samples already in the file are not written again. If the file cannot be parsed, it is still
  // appended to.
  const auto before = io::read_csv(file_);
  if (!before.ok()) return;
  for (const auto& row : before.value().rows) written_.insert(row.front());
}

void Quarantine::add(const BadSample& bad, std::uint32_t epoch) {
  if (!count_and_write(bad, epoch)) return;
  found_.push_back({.bad = bad, .epoch = epoch});
  require_few(bad);
}

void Quarantine::unite(const std::vector<FoundBad>& found) {
  const BadSample* last = nullptr;
  for (const FoundBad& each : found) {
    if (count_and_write(each.bad, each.epoch)) last = &each.bad;
  }
  if (last != nullptr) require_few(*last);
}

bool Quarantine::count_and_write(const BadSample& bad, std::uint32_t epoch) {
  if (!known_.insert(bad.sample).second) return false;
  if (names_.size() < 5) names_.push_back(bad.id);
  write(bad, epoch);
  return true;
}

void Quarantine::require_few(const BadSample& last) const {
  if (static_cast<double>(count()) <= max_bad_share_ * static_cast<double>(samples_)) {
    // The log contains no image name, because NIH's names contain the patient number.
    log::warning(fmt::format("corrupt image replaced, {} of {} so far{}", count(), samples_,
                             file_.empty() ? "" : ", listed in " + file_.filename().string()));
    return;
  }
  std::string names = fmt::format("{}", fmt::join(names_, ", "));
  if (names_.back() != last.id) names += ", ..., " + last.id;
  throw DataError(
      error_text("data.loader", "corrupt images", fmt::format("at most {:g}% of the images", 100.0 * max_bad_share_),
                 fmt::format("{} of {}: {} (the last: {})", count(), samples_, names, cause_of(last.reason)),
                 fmt::format("repairing or removing them, or train.max_bad={:g}", share_admitting(count(), samples_))));
}

void Quarantine::write(const BadSample& bad, std::uint32_t epoch) {
  if (file_.empty() || !written_.insert(bad.id).second) return;
  std::error_code error;
  const bool is_new = !std::filesystem::exists(file_, error);
  std::ofstream out(file_, std::ios::app);
  if (is_new) out << "image,epoch,reason\n";
  out << csv_field(bad.id) << ',' << epoch << ',' << csv_field(bad.reason) << '\n';
  out.close();
  if (!out) {
    throw DataError(error_text("data.loader", file_.string(), "a file that can be written", "a failed write",
                               "freeing space there, or another --out folder"));
  }
}

}  // namespace roentgen::data
