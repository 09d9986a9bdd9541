// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// StorageCosts: costs of accesses to an EmulatedStorage (storage.h).
#pragma once

#include <string>
#include <string_view>

namespace roentgen::data {

/// Simulated costs of storage accesses.
struct StorageCosts {
  /// Seconds to open a file, and seconds of each read of up to 1 MiB from it.
  double open_s = 0.0;
  double read_s = 0.0;
  /// Files that can be opened in a second, by all threads together; 0: any number.
  double opens_per_s = 0.0;

  /// "open=2ms,read=1ms,opens_per_s=1000".
  [[nodiscard]] std::string text() const;
  friend bool operator==(const StorageCosts&, const StorageCosts&) = default;
};
/// Reads text(); times in s, ms or us. Throws ConfigError "[data.storage] ..." naming the known words.
[[nodiscard]] StorageCosts parse_storage_costs(std::string_view text);

}  // namespace roentgen::data
