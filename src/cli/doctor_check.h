// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// DoctorCheck: a measurement of `roentgen doctor CHECK`, such as the storage of a folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "core/option.h"

// The only list of checks. X(name) declares make_doctor_<name>(), which cli/doctor_<name>.cpp defines.
// io: a folder's storage beside what training needs. net: links between GPUs, ranks and hosts. scale: predicted speed
// of many devices.
#define RG_DOCTOR_CHECK_LIST(X) \
  X(io)                         \
  X(net)                        \
  X(scale)

namespace roentgen::cli {

/// One check with its options. For use by one thread.
class DoctorCheck {
 public:
  virtual ~DoctorCheck() = default;
  /// Returns options bound to this object's members.
  [[nodiscard]] virtual std::vector<Option> options() = 0;
  /// Measures and prints. The exit code is kFailure if something is wrong. Throws roentgen::Error.
  /// @param hosts value of --hosts; empty: none was given
  [[nodiscard]] virtual CommandResult run(const std::string& hosts) = 0;
};

#define RG_DECLARE_CHECK(name) [[nodiscard]] std::unique_ptr<DoctorCheck> make_doctor_##name();
RG_DOCTOR_CHECK_LIST(RG_DECLARE_CHECK)
#undef RG_DECLARE_CHECK

}  // namespace roentgen::cli
