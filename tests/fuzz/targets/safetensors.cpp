// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/safetensors.h"

#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

void fuzz_safetensors(Input input) {
  const auto reader = io::SafetensorsReader::open(write_scratch("x.safetensors", input));
  if (!reader.ok()) return;
  for (const io::TensorInfo& tensor : reader.value().tensors()) {
    require(reader.value().bytes(tensor).size() == tensor.end - tensor.begin, "all bytes of a tensor");
    static_cast<void>(reader.value().read_f32(tensor.name));
  }
}

}  // namespace roentgen::fuzz
