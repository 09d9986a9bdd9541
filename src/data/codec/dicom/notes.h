// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Warnings about how DICOM files are read, each kind once. Only the files of this folder include it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace roentgen::data {

/// Logs each of `notes` that this process has not logged yet as a warning that names `what`. Thread-safe.
void say_once(std::span<const std::string> notes, std::string_view what);

}  // namespace roentgen::data
