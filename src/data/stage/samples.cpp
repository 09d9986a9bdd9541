// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/samples.h"

#include "data/stage/stage.h"

namespace roentgen::data {
namespace {

class SamplesIterator final : public StageIterator {
 public:
  explicit SamplesIterator(const StageContext& context) : context_(context) {}
  void start(std::uint32_t epoch) override {
    epoch_ = epoch;
    at_ = 0;
  }

 private:
  bool advance(Element& out) override {
    if (at_ == context_.samples.size()) return false;
    out = {.index = context_.samples[at_++], .epoch = epoch_, .draw_epoch = epoch_};
    return true;
  }

  const StageContext& context_;
  std::uint32_t epoch_ = 0;
  std::size_t at_ = 0;
};

}  // namespace

void SamplesStage::describe(StageVisitor& /*visitor*/) {}

Carries SamplesStage::gives(Carries before) const {
  return carried(kName, before, {Carries::Nothing}, Carries::Samples);
}

std::unique_ptr<StageIterator> make_iterator(const SamplesStage& /*stage*/, StageUpstream /*upstream*/,
                                             const StageContext& context) {
  return std::make_unique<SamplesIterator>(context);
}

}  // namespace roentgen::data
