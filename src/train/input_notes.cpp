// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/input_notes.h"

#include <fmt/format.h>

#include "core/foreign_text.h"

namespace roentgen::train {

std::string skipped_note(const EpochUse& use) {
  const std::int64_t skipped = use.images - use.updates * use.images_per_update;
  if (skipped < use.images_per_update) return {};
  const char* const reason = use.ranks > 1
                                 ? "all ranks make as many updates as the one with the fewest images; files of equal "
                                   "size, a multiple of the ranks in number, or train.pipeline=default leave out none"
                                 : "train.pipeline ends it there";
  return fmt::format("an epoch leaves out {} of {} training images ({:.0f}%): {}", skipped, use.images,
                     100.0 * static_cast<double>(skipped) / static_cast<double>(use.images), reason);
}

std::string network_note(const char* network, const std::filesystem::path& data, bool keeps_on_disk) {
  if (network == nullptr || keeps_on_disk) return {};
  return fmt::format(
      "{} lies on {}, which every epoch reads again: roentgen copy-local {} DIR, or --cache-dir DIR on a "
      "disk of this host, reads it once",
      data.string(), network, shell_word(data.string()));
}

}  // namespace roentgen::train
