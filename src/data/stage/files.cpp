// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/files.h"

#include "core/error.h"
#include "data/stage/names_iterator.h"

namespace roentgen::data {

void FilesStage::describe(StageVisitor& /*visitor*/) {}

Carries FilesStage::gives(Carries before) const { return carried(kName, before, {Carries::Nothing}, Carries::Files); }

std::unique_ptr<StageIterator> make_iterator(const FilesStage& /*stage*/, StageUpstream /*upstream*/,
                                             const StageContext& context) {
  RG_ASSERT(context.files != nullptr);
  return std::make_unique<NamesIterator>(context.files->size());
}

}  // namespace roentgen::data
