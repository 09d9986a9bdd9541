// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Cache of decoded images in memory for one run: shared by the ranks of a node, or of this process alone.
#pragma once

#include <cstdint>
#include <memory>

namespace roentgen::data {
class ImageStore;
struct Dataset;
struct Preprocess;
}  // namespace roentgen::data

namespace roentgen::train {

class Ranks;

/// Creates the cache of decoded images. The ranks of a host share one cache, whose size is the sum of their shares. If
/// they cannot share memory, each rank has a cache of its share, and a warning says why. All ranks must call it.
/// @param dataset images of the run; all ranks of a host read the same files
/// @param share_bytes memory that this rank contributes
[[nodiscard]] std::unique_ptr<data::ImageStore> make_memory_cache(const Ranks& ranks, const data::Dataset& dataset,
                                                                  const data::Preprocess& preprocess,
                                                                  std::uint64_t share_bytes);

}  // namespace roentgen::train
