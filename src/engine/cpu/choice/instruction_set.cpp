// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/choice/instruction_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/cpu/simd/isa.h"
#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu {

std::string_view name_of(InstructionSet set) {
  switch (set) {
    case InstructionSet::Amx:
      return "amx";
    case InstructionSet::Avx512Bf16:
      return "avx512_bf16";
    case InstructionSet::Avx512:
      return "avx512";
    default:
      return "avx2";
  }
}

InstructionSet instruction_set(std::string_view name) {
  const auto found = std::ranges::find(kInstructionSets, name, &name_of);
  if (found != kInstructionSets.end()) return *found;
  std::vector<std::string_view> names;
  for (const InstructionSet set : kInstructionSets) names.push_back(name_of(set));
  throw ConfigError(error_text("engine.cpu", "instruction set", fmt::format("one of {}", fmt::join(names, ", ")), name,
                               names.front()));
}

InstructionSet this_instruction_set() {
  if (simd::has_tiles()) return InstructionSet::Amx;
  if (simd::has_unit(simd::ProductUnit::Avx512)) return InstructionSet::Avx512Bf16;
  return simd::vector_block() == 16 ? InstructionSet::Avx512 : InstructionSet::Avx2;
}

}  // namespace roentgen::engine::cpu
