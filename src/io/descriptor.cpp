// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/descriptor.h"

#include <unistd.h>

#include <system_error>

namespace roentgen::io {

Descriptor::~Descriptor() {
  if (value_ >= 0) ::close(value_);
}

std::string system_message(int code) { return std::generic_category().message(code); }

}  // namespace roentgen::io
