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

/// Engine that reports a given device_id().
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

// Runs require_own_device() on ranks of one host with these devices, and returns the exception of each rank.
std::vector<std::exception_ptr> with_devices(const std::vector<std::string>& devices) {
  return as_ranks(static_cast<int>(devices.size()), [&](dist::CommThread& comm) {
    require_own_device(Ranks(&comm), OnDevice(devices[static_cast<std::size_t>(comm.rank())]));
  });
}

/// Returns an inventory of cards 0 to count - 1 with this compute capability.
runtime::CudaInventory cards(int count, int compute_capability = 90) {
  runtime::CudaInventory inventory;
  for (int index = 0; index < count; ++index) {
    inventory.devices.push_back({.index = index, .name = "NVIDIA H200", .compute_capability = compute_capability});
  }
  if (count == 0) inventory.why_none = "no NVIDIA driver";
  return inventory;
}

std::string device_of(const std::string& device, const std::optional<dist::LaunchedRank>& launched,
                      const runtime::CudaInventory& inventory) {
  return own_device(engine::parse_device(device), launched, inventory).text();
}

TEST(OwnDevice, is_the_card_of_the_local_rank) {
  for (const int local : {0, 1, 2, 3}) {
    const dist::LaunchedRank rank{.rank = 4 + local, .size = 8, .local_rank = local, .local_size = 4};
    EXPECT_EQ(device_of("cuda", rank, cards(4)), "cuda:" + std::to_string(local));
    EXPECT_EQ(device_of("cuda", rank, cards(1)), "cuda:0") << "a launcher that shows each rank one card";
    EXPECT_EQ(device_of("cuda:2", rank, cards(4)), "cuda:2");
    EXPECT_EQ(device_of("cpu", rank, cards(4)), "cpu");
  }
}

TEST(OwnDevice, skips_cards_that_are_too_old) {
  runtime::CudaInventory inventory = cards(3);
  inventory.devices[1].compute_capability = 75;
  const dist::LaunchedRank second{.rank = 1, .size = 2, .local_rank = 1, .local_size = 2};
  EXPECT_EQ(device_of("cuda", second, inventory), "cuda:2");
  EXPECT_EQ(usable_cards(inventory).size(), 2U);
}

TEST(OwnDevice, stays_as_asked_without_other_processes_or_cards) {
  EXPECT_EQ(device_of("cuda", std::nullopt, cards(4)), "cuda");
  EXPECT_EQ(device_of("cuda", dist::LaunchedRank{}, cards(4)), "cuda");
  EXPECT_EQ(device_of("cuda", dist::LaunchedRank{.rank = 1, .size = 2, .local_rank = 1, .local_size = 2}, cards(0)),
            "cuda");
}

TEST(OwnDevice, more_ranks_than_cards_take_turns) {
  const dist::LaunchedRank third{.rank = 2, .size = 3, .local_rank = 2, .local_size = 3};
  EXPECT_EQ(device_of("cuda", third, cards(2)), "cuda:0") << "which require_own_device() refuses";
}

TEST(DeviceNote, names_the_card_that_auto_leaves_idle_and_how_to_use_it) {
  const engine::DeviceChoice automatic, cpu{.engine = "cpu"}, cuda{.engine = "cuda"};
  EXPECT_EQ(device_note(automatic, cpu, cards(1)),
            "device: cpu (auto); this machine has the card NVIDIA H200: --device cuda trains on it");
  EXPECT_EQ(device_note(automatic, cpu, cards(8)),
            "device: cpu (auto); this machine has 8 cards, such as NVIDIA H200: --device cuda trains on it");
  EXPECT_EQ(device_note(automatic, cuda, cards(2)), "device: cuda:0 NVIDIA H200 (auto)");
}

TEST(DeviceNote, is_silent_where_a_device_was_asked_for_or_no_card_can_be_used) {
  const engine::DeviceChoice automatic, cpu{.engine = "cpu"};
  EXPECT_EQ(device_note(cpu, cpu, cards(1)), "");
  EXPECT_EQ(device_note(automatic, cpu, cards(0)), "");
  EXPECT_EQ(device_note(automatic, cpu, cards(1, 61)), "");
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
      EXPECT_NE(text.find("expected a GPU that no other rank uses, got 0000:01:00.0, which rank 0 uses"),
                std::string::npos)
          << text;
      EXPECT_NE(text.find("--allow-shared-gpu"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace roentgen::train
