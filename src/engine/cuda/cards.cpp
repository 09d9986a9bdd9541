// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/cards.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <utility>

#include "core/error.h"
#include "core/value.h"
#include "io/file.h"
#include "io/json.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {
namespace {

// GPU properties that differ between the described cards.
struct Described {
  std::string_view name;
  std::string_view device_name;
  std::int64_t memory_bytes;
  std::int64_t memory_clock_khz;
  std::int64_t cache_bytes;
};

// Hopper cards with 132 multiprocessors. The values of the H200 were read from a card (driver 580.159, cuDNN 9.19).
// Memory, clock and cache of the H100 are from NVIDIA's data sheet and were not confirmed on a card.
constexpr std::array kDescribed{Described{.name = "h100",
                                          .device_name = "NVIDIA H100 80GB HBM3",
                                          .memory_bytes = 85'017'493'504,
                                          .memory_clock_khz = 2'619'000,
                                          .cache_bytes = 52'428'800},
                                Described{.name = "h200",
                                          .device_name = "NVIDIA H200",
                                          .memory_bytes = 150'109'880'320,
                                          .memory_clock_khz = 3'201'000,
                                          .cache_bytes = 62'914'560}};

std::string properties_of(const Described& card) {
  return fmt::format(
      R"({{"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)"
      R"("multiProcessorCount":132,"warpSize":32,"maxSharedMemoryPerBlock":49152,)"
      R"("maxSharedMemoryPerBlockOptin":232448,"reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,)"
      R"("maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":0,"isTccDriver":0,)"
      R"("supportCoopLaunch":1,"totalGlobalMem":{},"smClockRateKHz":1980000,"memClockRateKHz":{},)"
      R"("l2CacheSize":{},"cudaDeviceId":0,"deviceVer":900,"driverVer":13000,"deviceName":"{}"}})",
      card.memory_bytes, card.memory_clock_khz, card.cache_bytes, card.device_name);
}

constexpr std::uint64_t kMostBytes = 1U << 16;
constexpr std::string_view kRemedy = "a file that tools/gpu/card_properties.py wrote on the card";

// Reads a positive number of at most `most` from a JSON object. Throws ConfigError.
std::int64_t number(const Value& table, const std::string& key, std::int64_t most, const std::string& what) {
  const Value* const found = table.find(key);
  if (found != nullptr && found->is_integer() && found->as_integer() > 0 && found->as_integer() <= most) {
    return found->as_integer();
  }
  throw ConfigError(error_text("engine.cuda", what, fmt::format("{} as a number from 1 to {}", key, most),
                               found == nullptr ? "none" : "another value", kRemedy));
}

Card parse_card(std::string properties, const std::string& what) {
  const Value table = io::parse_json(properties, what).or_throw<ConfigError>();
  const Value* const name = table.is_table() ? table.find("deviceName") : nullptr;
  if (name == nullptr || !name->is_string()) {
    throw ConfigError(error_text("engine.cuda", what, "deviceName, the name of the card", "none", kRemedy));
  }
  constexpr std::int64_t kMostMemory = std::int64_t{1} << 50, kMostMultiprocessors = 65536, kMostVersion = 9990;
  Card card{.name = name->as_string(),
            .compute_capability = static_cast<int>(number(table, "deviceVer", kMostVersion, what) / 10),
            .multiprocessors = static_cast<int>(number(table, "multiProcessorCount", kMostMultiprocessors, what)),
            .memory_bytes = static_cast<std::size_t>(number(table, "totalGlobalMem", kMostMemory, what)),
            .properties = std::move(properties)};
  if (card.compute_capability < runtime::kLeastComputeCapability) {
    throw ConfigError(error_text("engine.cuda", what,
                                 fmt::format("compute capability {}.{} or later", runtime::kLeastComputeCapability / 10,
                                             runtime::kLeastComputeCapability % 10),
                                 fmt::format("{}.{}", card.compute_capability / 10, card.compute_capability % 10),
                                 "a newer card"));
  }
  return card;
}

}  // namespace

std::string card_names() {
  std::string text;
  for (const Described& card : kDescribed) text += (text.empty() ? "" : ", ") + std::string(card.name);
  return text;
}

Card find_card(const std::string& text) {
  for (const Described& card : kDescribed) {
    if (text == card.name) return parse_card(properties_of(card), text);
  }
  if (!text.ends_with(".json")) {
    throw ConfigError(error_text("engine.cuda", "card", fmt::format("{}, or FILE.json", card_names()), text, kRemedy));
  }
  return parse_card(io::read_text(text, kMostBytes).or_throw<ConfigError>(), text);
}

}  // namespace roentgen::engine::cuda
