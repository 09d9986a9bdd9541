// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Policy for corrupt samples in training: report each once, write it to a file, stop if there are too many.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace roentgen::data {

/// A sample that could not be read, with the reason.
struct BadSample {
  std::uint32_t sample = 0;  ///< index into Dataset::samples
  std::string id;            ///< Sample::id
  std::string reason;        ///< one-line error that names the sample
};

/// An unreadable sample and the epoch in which a rank found it.
struct FoundBad {
  BadSample bad;            ///< sample and reason
  std::uint32_t epoch = 0;  ///< epoch, from 0
};

/// Collects unreadable samples. Not thread-safe.
class Quarantine {
 public:
  /// Tolerates at most max_bad_share * samples distinct bad samples. `file`: csv with the columns image, epoch and
  /// reason. It is created for the first bad sample, and each new one is appended; empty: no file. `known`: samples
  /// that were already counted in the run that is resumed.
  Quarantine(std::int64_t samples, double max_bad_share, std::filesystem::path file,
             const std::vector<std::uint32_t>& known = {});

  /// Counts and writes a sample unless it is already known. Throws DataError "[data.loader] ..." if there are too many,
  /// or if the csv cannot be written.
  void add(const BadSample& bad, std::uint32_t epoch);
  /// Samples that add() has newly counted since the last call.
  [[nodiscard]] std::vector<FoundBad> take_found() { return std::exchange(found_, {}); }
  /// Counts and writes what other ranks have found, as add() does. Throws as add() does, but only after all are
  /// written.
  void unite(const std::vector<FoundBad>& found);
  /// Indices of the counted samples, ascending.
  [[nodiscard]] std::vector<std::uint32_t> samples() const { return {known_.begin(), known_.end()}; }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(known_.size()); }  ///< counted samples

 private:
  /// Counts and writes one sample. Returns false if it is already known.
  bool count_and_write(const BadSample& bad, std::uint32_t epoch);
  /// Throws DataError if there are too many.
  /// @param last the bad sample that was found last
  void require_few(const BadSample& last) const;
  void write(const BadSample& bad, std::uint32_t epoch);

  std::int64_t samples_;
  double max_bad_share_;
  std::filesystem::path file_;
  std::set<std::uint32_t> known_;
  std::vector<std::string> names_;
  std::set<std::string> written_;
  std::vector<FoundBad> found_;
};

}  // namespace roentgen::data
