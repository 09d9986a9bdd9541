// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/notes.h"

#include <fmt/core.h>

#include <mutex>
#include <set>

#include "core/log.h"

namespace roentgen::data {

void say_once(std::span<const std::string> notes, std::string_view what) {
  static std::mutex mutex;
  static std::set<std::string> said;  // texts with a few small numbers, so there are not many
  for (const std::string& note : notes) {
    const std::scoped_lock lock(mutex);
    if (said.insert(note).second) log::warning(fmt::format("{}; the first is {}", note, what));
  }
}

}  // namespace roentgen::data
