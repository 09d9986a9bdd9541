// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/own_device.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "engine/reference/reference_engine_testing.h"
#include "train/ranks.h"
#include "train/ranks_testing.h"

namespace roentgen::train {
namespace {

/// An engine on the device of that name.
class OnDevice final : public engine::Engine {
 public:
  explicit OnDevice(std::string device) : device_(std::move(device)) {}
  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] std::string description() const override { return device_; }
  [[nodiscard]] std::string device_id() const override { return device_; }
  [[nodiscard]] std::unique_ptr<engine::Executable> compile(const graph::Graph& graph,
                                                            const engine::CompileOptions& options) override {
    return engine::reference::ReferenceEngine().compile(graph, options);
  }

 private:
  std::string device_;
};

// Exceptions of ranks of one host that compute on these devices.
std::vector<std::exception_ptr> with_devices(const std::vector<std::string>& devices) {
  return as_ranks(static_cast<int>(devices.size()), [&](dist::CommThread& comm) {
    require_own_device(Ranks(&comm), OnDevice(devices[static_cast<std::size_t>(comm.rank())]));
  });
}

TEST(OwnDevice, of_each_rank_is_fine_and_the_hosts_cores_are_shared) {
  expect_none(with_devices({"0000:01:00.0", "0000:02:00.0"}));
  expect_none(with_devices({"", ""}));
  require_own_device(Ranks(nullptr), OnDevice("0000:01:00.0"));
}

TEST(OwnDevice, of_two_ranks_is_refused_on_all_of_them) {
  for (const std::exception_ptr& error : with_devices({"0000:01:00.0", "0000:02:00.0", "0000:01:00.0"})) {
    ASSERT_NE(error, nullptr);
    try {
      std::rethrow_exception(error);
    } catch (const ConfigError& refusal) {
      const std::string text = refusal.what();
      EXPECT_NE(text.find("device of rank 2 ("), std::string::npos) << text;
      EXPECT_NE(text.find("expected one of its own, got 0000:01:00.0, rank 0's"), std::string::npos) << text;
      EXPECT_NE(text.find("--allow-shared-gpu"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace roentgen::train
