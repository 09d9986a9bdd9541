// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/torch_file.h"

#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

void fuzz_torch(Input input) {
  const auto file = io::parse_torch_file(std::as_bytes(input), "input");
  if (!file.ok()) return;
  for (const io::TorchTensor& tensor : file.value().tensors) {
    require(static_cast<std::int64_t>(tensor.values.size()) == tensor.shape.elements(), "all elements of a tensor");
  }
}

}  // namespace roentgen::fuzz
