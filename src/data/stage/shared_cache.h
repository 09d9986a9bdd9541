// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// SharedCache: decoded images at full size in memory, shared by the processes of a node and kept between epochs. Each
// process adds the images that it decodes, and finds the images of all others.
//
// The memory has no name (memfd_create(2)). One process creates it, and the others open it as /proc/PID/fd/FD. The
// kernel frees it when the last process has ended, also after kill -9.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"
#include "data/stage/cache_file.h"
#include "data/stage/image_store.h"

namespace roentgen::data {

/// Image store in shared memory. Returned pixels stay valid as long as the object exists. Thread-safe.
class SharedCache final : public ImageStore {
 public:
  /// Creates the memory for at most form.most_bytes of pixels. Fails if the system has no such memory.
  [[nodiscard]] static Result<std::unique_ptr<SharedCache>> create(const CacheFileForm& form);
  /// Attaches to the memory of another process of this user, or of this one. Fails if `address` is not valid on this
  /// machine, or if the other process uses another form.
  /// @param address result of location() in the process that created the memory, which must still run
  [[nodiscard]] static Result<std::unique_ptr<SharedCache>> attach(std::string_view address, const CacheFileForm& form);

  /// Text by which other processes find the memory: process, descriptor, device and inode.
  [[nodiscard]] const std::string& location() const { return location_; }

  [[nodiscard]] bool has(std::uint32_t sample, ImageUse /*use*/) override { return file_.find(sample).has_value(); }
  /// Implements ImageStore. If an image does not fit, it logs this once; smaller images are still stored.
  [[nodiscard]] Result<StoredPicture> get(std::uint32_t sample, ImageUse use, const Decode& decode,
                                          Image& memory) override;
  void require_intact() const override { file_.require_intact(); }
  /// Number of images in the memory.
  [[nodiscard]] std::int64_t kept() const { return file_.kept(); }

 private:
  SharedCache(io::Descriptor file, std::string address, const CacheFileForm& form)
      : location_(std::move(address)), file_(std::move(file), "shared memory", form) {}

  void keep(std::uint32_t sample, const CacheEntry& entry);

  const std::string location_;
  CacheFile file_;
  /// Size of the smallest image that did not fit, in bytes.
  std::atomic<std::uint64_t> refused_bytes_ = ~std::uint64_t{0};
};

}  // namespace roentgen::data
