// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// StorageCosts: delays that an EmulatedStorage (storage.h) simulates.
#pragma once

#include <string>
#include <string_view>

namespace roentgen::data {

/// Simulated delays of storage accesses.
struct StorageCosts {
  /// Seconds to open a file (`open_s`), and seconds for each read of up to 1 MiB (`read_s`).
  double open_s = 0.0;
  double read_s = 0.0;
  /// Number of files that all threads together can open per second; 0: no limit.
  double opens_per_s = 0.0;

  /// Text such as "open=2ms,read=1ms,opens_per_s=1000".
  [[nodiscard]] std::string text() const;
  friend bool operator==(const StorageCosts&, const StorageCosts&) = default;
};
/// Parses the text of text(), with times in s, ms or us. Throws ConfigError "[data.storage] ..." that lists the known
/// keys.
[[nodiscard]] StorageCosts parse_storage_costs(std::string_view text);

}  // namespace roentgen::data
