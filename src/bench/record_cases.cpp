// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/record_cases.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "data/convert/record_form.h"

namespace roentgen::bench {

std::vector<RecordCase> record_cases(std::int64_t stored_px) {
  std::vector<RecordCase> cases;
  for (const std::int64_t size_px : {std::int64_t{0}, stored_px}) {
    for (const data::RecordForm& form : data::record_forms()) {
      for (const std::string_view encoding : data::encoding_names()) {
        RecordCase one{.name = fmt::format("{} {}", form.name, encoding)};
        data::parse_encoding(encoding, one.options);
        one.options.form = form.name;
        one.options.size_px = size_px;
        if (size_px > 0 && one.options.encoding == data::Encoding::Keep) continue;
        // Files in a folder, unless smaller, are what records are compared with.
        if (form.is_folder && (size_px == 0 || one.options.encoding != data::Encoding::Png)) continue;
        if (form.is_folder) one.name = fmt::format("{} files", form.name);
        one.has_shards = !form.is_folder;
        cases.push_back(std::move(one));
      }
    }
  }
  return cases;
}

}  // namespace roentgen::bench
