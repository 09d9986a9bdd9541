// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// RapidCheck generators of texts and Values, for tests only.
#pragma once

#include <gtest/gtest.h>  // must come before RapidCheck's header
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/value.h"

namespace roentgen::io::testing {

/// Fixes RapidCheck's seed, because it draws a new one each time and tests must be repeatable. An environment variable
/// RC_PARAMS=seed=N overrides it, for longer searches.
inline const bool kSeedIsFixed = ::setenv("RC_PARAMS", "seed=20240601", 0) == 0;

/// One code point as UTF-8.
inline std::string utf8(std::uint32_t code) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  const auto tail = [&byte](std::uint32_t value) { return byte(0x80 | (value & 0x3f)); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | code >> 6), tail(code)};
  if (code < 0x10000) return {byte(0xE0 | code >> 12), tail(code >> 6), tail(code)};
  return {byte(0xF0 | code >> 18), tail(code >> 12), tail(code >> 6), tail(code)};
}

/// RapidCheck's size from which generators use their whole range. Below it, ranges start at `low` and numbers have few
/// bits.
constexpr int kWholeRange = 100;

/// Uniform integer in [low, high).
template <typename T>
rc::Gen<T> even(T low, T high) {
  return rc::gen::resize(kWholeRange, rc::gen::inRange<T>(low, high));
}

/// Well-formed UTF-8 of 0 to 11 code points, many of which need escapes.
inline rc::Gen<std::string> any_text() {
  return rc::gen::exec([]() -> std::string {
    const std::string odd = "\"'\\\n\r\t\b\f,=#[]{}.\x7f";
    std::string text;
    for (int length = *even(0, 12); length > 0; --length) {
      switch (*even(0, 8)) {
        case 0:
          text += utf8(*even<std::uint32_t>(0x00, 0x20));
          break;
        case 1:
          text += utf8(*even<std::uint32_t>(0x80, 0xD800));
          break;
        case 2:
          text += utf8(*even<std::uint32_t>(0xE000, 0x110000));
          break;
        case 3:
        case 4:
          text += odd[*even<std::size_t>(0, odd.size())];
          break;
        default:
          text += utf8(*even<std::uint32_t>(0x20, 0x7f));
          break;
      }
    }
    return text;
  });
}

/// Any 64-bit pattern.
inline rc::Gen<std::uint64_t> any_bits() { return rc::gen::resize(kWholeRange, rc::gen::arbitrary<std::uint64_t>()); }

/// Any finite double: half of them from random bits (subnormal, huge, negative zero), half short decimals.
inline rc::Gen<double> any_finite() {
  return rc::gen::exec([]() -> double {
    const double value = std::bit_cast<double>(*any_bits());
    if (*even(0, 2) == 0 && std::isfinite(value)) return value;
    return *even(-100'000, 100'000) / 1000.0;
  });
}

/// A Value whose containers are nested at most `depth` deep. Keys of a table are distinct.
inline rc::Gen<Value> any_value(int depth) {
  return rc::gen::exec([depth]() -> Value {
    switch (*even(0, depth > 0 ? 9 : 5)) {
      case 0:
        return {};
      case 1:
        return *even(0, 2) == 1;
      case 2:
        return static_cast<long long>(*any_bits());
      case 3:
        return *any_finite();
      case 4:
        return *any_text();
      case 5:
      case 6: {
        Value array = Value::array();
        for (int entries = *even(0, 4); entries > 0; --entries) array.push_back(*any_value(depth - 1));
        return array;
      }
      default:
        break;
    }
    Value table = Value::table();
    for (int entries = *even(0, 5); entries > 0; --entries) table.set(*any_text(), *any_value(depth - 1));
    return table;
  });
}

/// A table, like a whole document. Some of its arrays contain only tables, which TOML prints as [[sections]].
inline rc::Gen<Value> any_document() {
  return rc::gen::exec([]() -> Value {
    Value table = Value::table();
    for (int entries = *even(0, 6); entries > 0; --entries) table.set(*any_text(), *any_value(3));
    Value tables = Value::array();
    for (int entries = *even(0, 4); entries > 0; --entries) {
      Value one = Value::table();
      one.set(*any_text(), *any_value(2));
      tables.push_back(std::move(one));
    }
    table.set("section", Value::Table{{"tables", std::move(tables)}});
    return table;
  });
}

}  // namespace roentgen::io::testing
