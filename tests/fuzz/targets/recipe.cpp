// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/value.h"
#include "data/source/options.h"
#include "data/stage/pipeline.h"
#include "data/transform/augment.h"
#include "data/transform/preprocess.h"
#include "io/toml.h"
#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

// Parses the recipe sections that src/data reads, and train.pipeline.
void fuzz_recipe(Input input) {
  const auto read = io::parse_toml(text_of(input), "input");
  if (!read.ok() || !read.value().is_table()) return;
  const auto section = [&read](std::string_view name) {
    const Value* found = read.value().find(name);
    return found == nullptr ? Value::table() : *found;
  };
  may_refuse([&] {
    const Value value = data::to_value(data::source_options_from_value(section("data"), {}));
    require(data::to_value(data::source_options_from_value(value, {})) == value,
            "the same [data] after it was written");
  });
  may_refuse([&] { static_cast<void>(data::preprocess_from_value(section("preprocess"))); });
  may_refuse([&] { static_cast<void>(data::augment_from_value(section("augment"))); });
  const Value* pipeline = read.value().find_path("train.pipeline");
  if (pipeline == nullptr || !pipeline->is_string()) return;
  may_refuse([&] { static_cast<void>(data::parse_pipeline(pipeline->as_string())); });
}

}  // namespace roentgen::fuzz
