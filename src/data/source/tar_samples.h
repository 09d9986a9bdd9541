// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Groups the files of a WebDataset shard into samples, by their names. For src/data/source only.
//
// WebDataset cuts a name at the first dot of its last part: "000017.png", "000017.json" and "000017.seg.png" are the
// sample 000017, whose image is the first. Names may hold dots themselves, as UIDs do ("1.2.840.7.png",
// "1.2.840.7.json"). They are cut where an image and a file of labels share the text before the cut.
#pragma once

#include <string>
#include <vector>

#include "data/source/record_listing.h"
#include "io/tar.h"

namespace roentgen::data {

/// The files of one sample: members of the archive that the samples were made of.
struct TarSample {
  std::string key;
  /// The image, which may be a link that leads nowhere; nullptr: none.
  const io::TarMember* image = nullptr;
  /// Ending of the image in lower case, without its dot.
  std::string image_ending;
  const io::TarMember* json = nullptr;
  const io::TarMember* cls = nullptr;
  const io::TarMember* txt = nullptr;
  /// Endings of other files, for people: ".seg.png", "without ending".
  std::vector<std::string> others;
};

/// Puts members that follow each other and belong to one sample together. Hidden images are left out. DataError: two
/// images of a sample, or two files of labels of one kind.
[[nodiscard]] std::vector<TarSample> tar_samples(const std::vector<io::TarMember>& members, const RecordFile& file,
                                                 RecordListing& listing);

}  // namespace roentgen::data
