// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/failure.h"

#include <filesystem>
#include <new>
#include <system_error>

#include "cli/command.h"
#include "cli/standard_output.h"
#include "core/error.h"

namespace roentgen::cli {
namespace {

Failure fault_of_ours(const std::exception& error) {
  return {error_text("cli.main", "roentgen", "no internal error", error.what(), "reporting it with the command line"),
          kFailure};
}

Failure describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ToldError& e) {
    return {"", e.exit_code()};
  } catch (const ConfigError& e) {
    return {e.what(), kBadInput};
  } catch (const DataError& e) {
    return {e.what(), kBadInput};
  } catch (const ShapeError& e) {
    return {e.what(), kBadInput};
  } catch (const Error& e) {
    return {e.what(), kFailure};
  } catch (const std::filesystem::filesystem_error& e) {
    return {error_text("cli.main", e.path1().string(), "a file or folder that can be used", e.code().message(),
                       "checking this path and its permissions"),
            kBadInput};
  } catch (const std::system_error& e) {
    if (is_output_lost()) return {lost_output_text(e.code().message()), kBadInput};
    return fault_of_ours(e);
  } catch (const std::bad_alloc&) {
    return {error_text("cli.main", "memory", "enough free memory", "none left", "a smaller --batch or smaller images"),
            kFailure};
  } catch (const std::exception& e) {
    return fault_of_ours(e);
  }
}

}  // namespace

Failure failure_of(const std::exception_ptr& error) {
  Failure failure = describe(error);
  for (char& c : failure.text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return failure;
}

}  // namespace roentgen::cli
