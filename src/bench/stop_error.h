// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// StopError: the user stopped a measurement of several processes.
#pragma once

#include "core/error.h"

namespace roentgen::bench {

/// A signal to this program ended the ranks that it had started, so that a case of several measurements must not go on.
class StopError : public CommError {
 public:
  using CommError::CommError;  ///< takes the text of error_text()
};

}  // namespace roentgen::bench
