// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/files.h"

#include "core/error.h"
#include "data/stage/stage.h"

namespace roentgen::data {
namespace {

class FilesIterator final : public StageIterator {
 public:
  explicit FilesIterator(const FileTable& files) : files_(files) {}
  void start(std::uint32_t epoch) override {
    epoch_ = epoch;
    at_ = 0;
  }

 private:
  bool advance(Element& out) override {
    if (at_ == files_.size()) return false;
    out = {.index = static_cast<std::uint32_t>(at_++), .epoch = epoch_, .draw_epoch = epoch_};
    return true;
  }

  const FileTable& files_;
  std::uint32_t epoch_ = 0;
  std::size_t at_ = 0;
};

}  // namespace

void FilesStage::describe(StageVisitor& /*visitor*/) {}

Carries FilesStage::gives(Carries before) const { return carried(kName, before, {Carries::Nothing}, Carries::Files); }

std::unique_ptr<StageIterator> make_iterator(const FilesStage& /*stage*/, StageUpstream /*upstream*/,
                                             const StageContext& context) {
  RG_ASSERT(context.files != nullptr);
  return std::make_unique<FilesIterator>(*context.files);
}

}  // namespace roentgen::data
