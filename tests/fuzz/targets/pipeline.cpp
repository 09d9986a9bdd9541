// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/pipeline.h"

#include "data/stage/storage_costs.h"
#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

void fuzz_pipeline(Input input) {
  may_refuse([&] {
    const data::Pipeline pipeline = data::parse_pipeline(text_of(input));
    const std::string text = pipeline.text();
    require(data::parse_pipeline(text).text() == text, "the same pipeline after it was printed");
  });
  may_refuse([&] { static_cast<void>(data::parse_storage_costs(text_of(input))); });
}

}  // namespace roentgen::fuzz
