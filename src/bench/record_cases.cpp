// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/record_cases.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace roentgen::bench {

std::vector<RecordCase> record_cases(std::int64_t stored_px) {
  std::vector<RecordCase> cases;
  for (const std::int64_t size_px : {std::int64_t{0}, stored_px}) {
    for (const std::string_view encoding : data::encoding_names()) {
      RecordCase one{.name = fmt::format("tfrecord {}", encoding)};
      data::parse_encoding(encoding, one.options);
      one.options.size_px = size_px;
      if (size_px > 0 && one.options.encoding == data::Encoding::Keep) continue;
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

}  // namespace roentgen::bench
