// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "tests/fuzz/record_folder.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include "data/source/dataset.h"

namespace roentgen::fuzz {

void list_records(std::string_view source, std::string_view file, Input bytes) {
  may_refuse([&] {
    const std::string name = "records_" + std::string(source);
    const auto folder = scratch_folder() / name, cache = scratch_folder() / "cache";
    std::filesystem::create_directories(folder);
    std::filesystem::remove_all(cache);
    ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    static_cast<void>(write_scratch(name + "/" + std::string(file), bytes));
    data::SourceOptions options{.root = folder, .source = std::string(source)};
    options.split.mode = data::SplitMode::Whole;
    static_cast<void>(data::load_dataset(options));
  });
}

}  // namespace roentgen::fuzz
