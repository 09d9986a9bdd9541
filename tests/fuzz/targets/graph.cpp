// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "graph/text.h"

#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

void fuzz_graph(Input input) {
  may_refuse([&] {
    const auto graph =
        graph::parse_graph(text_of(input), "input", {.batch = 2, .channels = 1, .image_px = 32, .labels = 3});
    if (!graph.ok()) return;
    const std::string text = graph::print_graph(graph.value());
    const auto again = graph::parse_graph(text, "again");
    require(again.ok() && graph::print_graph(again.value()) == text, "the same graph after it was printed");
  });
}

}  // namespace roentgen::fuzz
