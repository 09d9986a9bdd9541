// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Which processor this is, closely enough that what was timed on one is not taken for another: virtual machines call
// quite different ones "AMD EPYC". It says nothing of instruction sets (simd/isa.h).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace roentgen::engine::cpu {

/// What the kernel's files say of one cache: cpu0/cache/index2/{level,type,size}; line ends do not matter.
struct CacheText {
  std::string level;
  std::string type;
  std::string size;
};

/// One word, without blanks: vendor, family, model, stepping, model name and the sizes of L2 and L3, as
/// "AuthenticAMD-25-17-1-AMD_EPYC-L2_1024K-L3_32768K"; on ARM implementer, variant, part and revision. What the texts
/// do not say is left out; "unknown" where they say nothing. Pure.
/// @param cpuinfo /proc/cpuinfo: the first processor of it counts
[[nodiscard]] std::string processor_word(std::string_view cpuinfo, std::span<const CacheText> caches);

/// Of this machine. Reads files.
/// @param cpuinfo, caches for tests
[[nodiscard]] std::string this_processor(const std::filesystem::path& cpuinfo = "/proc/cpuinfo",
                                         const std::filesystem::path& caches = "/sys/devices/system/cpu/cpu0/cache");

}  // namespace roentgen::engine::cpu
