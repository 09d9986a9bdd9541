// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Groups the files of a WebDataset shard into samples by name. For src/data/source only.
//
// WebDataset cuts a name at the first dot of its last path component. So "000017.png", "000017.json" and
// "000017.seg.png" form the sample 000017, and the first is its image. Names may contain dots themselves, as UIDs do
// ("1.2.840.7.png", "1.2.840.7.json"). Such names are cut where an image and a label file have the same text before the
// cut.
#pragma once

#include <string>
#include <vector>

#include "data/source/record_listing.h"
#include "io/tar.h"

namespace roentgen::data {

/// Files of one sample. Pointers refer to the members from which the sample was made.
struct TarSample {
  std::string key;
  /// Image of the sample, possibly a link without a target; nullptr: none.
  const io::TarMember* image = nullptr;
  /// Extension of the image in lower case, without the dot.
  std::string image_ending;
  const io::TarMember* json = nullptr;
  const io::TarMember* cls = nullptr;
  const io::TarMember* txt = nullptr;
  /// Extensions of other files, for messages: ".seg.png", "without ending".
  std::vector<std::string> others;
};

/// Groups consecutive members that belong to the same sample. Hidden images are skipped. Throws DataError if a sample
/// has two images, or two label files of one kind.
[[nodiscard]] std::vector<TarSample> tar_samples(const std::vector<io::TarMember>& members, const RecordFile& file,
                                                 RecordListing& listing);

}  // namespace roentgen::data
