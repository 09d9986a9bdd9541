// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The policy for corrupt samples in training: name each once, write it down, stop beyond a share.
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
  std::string reason;        ///< one line that names the sample
};

/// Bad sample with the place where a rank met it.
struct FoundBad {
  BadSample bad;            ///< sample and reason
  std::uint32_t epoch = 0;  ///< epoch, from 0
};

/// Collects bad samples. One thread.
class Quarantine {
 public:
  /// Tolerates at most max_bad_share * samples distinct bad samples. `file`: csv with the columns image, epoch, reason,
  /// created for the first one; each new one is appended. Empty: none. `known`: samples that were counted before, in
  /// the run that is resumed.
  Quarantine(std::int64_t samples, double max_bad_share, std::filesystem::path file,
             const std::vector<std::uint32_t>& known = {});

  /// Counts and writes a sample unless it is known already. DataError "[data.loader] ..." beyond the share, or when the
  /// csv cannot be written.
  void add(const BadSample& bad, std::uint32_t epoch);
  /// New samples that add() has counted since the last call.
  [[nodiscard]] std::vector<FoundBad> take_found() { return std::exchange(found_, {}); }
  /// Counts and writes what other ranks have found, as add(), and throws as that once all of it is written.
  void unite(const std::vector<FoundBad>& found);
  /// The samples that were counted, ascending.
  [[nodiscard]] std::vector<std::uint32_t> samples() const { return {known_.begin(), known_.end()}; }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(known_.size()); }  ///< distinct samples

 private:
  /// Counts one sample; false: it is already known.
  bool count_and_write(const BadSample& bad, std::uint32_t epoch);
  /// @param last the bad sample found last
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
