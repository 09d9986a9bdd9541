// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/cache.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "core/error.h"
#include "data/stage/stage.h"

namespace roentgen::data {
namespace {

class CacheIterator final : public StageIterator {
 public:
  CacheIterator(std::size_t limit_bytes, std::unique_ptr<StageIterator> upstream, const StageContext& context)
      : limit_bytes_(limit_bytes), upstream_(std::move(upstream)), context_(context) {}
  void start(std::uint32_t epoch) override {
    epoch_ = epoch;
    at_ = 0;
    if (is_whole_) return;
    kept_.clear();
    bytes_ = 0;
    // The cache stores the first pass and its random draws, also if a resumed run begins in a later pass.
    upstream_->start(0);
  }

 private:
  bool advance(Element& out) override {
    if (is_whole_) {
      if (at_ == kept_.size()) return false;
      out = kept_[at_++];
      out.epoch = epoch_;
      return true;
    }
    if (!upstream_->next(out)) {
      // A pass that was partly skipped on resume cannot be cached, because skipped elements contain no data.
      is_whole_ = context_.does_work() && !kept_.empty() && is_worked_on_;
      is_worked_on_ = true;
      at_ = kept_.size();
      return false;
    }
    if (context_.does_work()) {
      keep(out);
    } else {
      is_worked_on_ = false;
    }
    out.epoch = epoch_;
    return true;
  }

  void keep(const Element& element) {
    if (element.cargo != nullptr) bytes_ += element.cargo->bytes();
    if (bytes_ > limit_bytes_) {
      throw ConfigError(error_text("data.pipeline", "pipeline, stage cache",
                                   fmt::format("at most {} MiB of cached data", limit_bytes_ >> 20),
                                   fmt::format("more after {} elements", kept_.size()),
                                   "a larger cache(limit_mb=...), or a pipeline without cache"));
    }
    kept_.push_back(element);
  }

  const std::size_t limit_bytes_;
  const std::unique_ptr<StageIterator> upstream_;
  const StageContext& context_;
  std::vector<Element> kept_;
  std::size_t bytes_ = 0;
  std::uint32_t epoch_ = 0;
  std::size_t at_ = 0;
  bool is_whole_ = false;
  bool is_worked_on_ = true;
};

}  // namespace

void CacheStage::describe(StageVisitor& visitor) {
  visitor.count({.name = "limit_mb", .default_value = kLimit_mb}, limit_mb);
  int index = static_cast<int>(where);
  visitor.word("where", index, static_cast<int>(CachePlace::Memory), {"memory", "disk"});
  where = static_cast<CachePlace>(index);
}

Carries CacheStage::gives(Carries before) const {
  if (where == CachePlace::Memory) return carried(kName, before, {Carries::Samples, Carries::Rows}, before);
  if (limit_mb != kLimit_mb) {
    throw ConfigError(error_text("data.pipeline", "pipeline, stage cache", "no limit_mb with where=disk",
                                 fmt::format("limit_mb={}", limit_mb), "cache(where=disk)"));
  }
  return carried(kName, before, {Carries::Samples}, before);
}

std::unique_ptr<StageIterator> make_iterator(const CacheStage& stage, StageUpstream upstream,
                                             const StageContext& context) {
  if (stage.where == CachePlace::Disk) return std::move(upstream.iterator);
  return std::make_unique<CacheIterator>(static_cast<std::size_t>(stage.limit_mb) << 20, std::move(upstream.iterator),
                                         context);
}

}  // namespace roentgen::data
