// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Communicator of one process: every operation is done when it is started. Refuses to be one of several processes that
// a launcher started, since each would train alone and overwrite the others' files.
#include <cstring>

#include "core/error.h"
#include "dist/comm_list.h"
#include "dist/communicator.h"
#include "dist/launched.h"

namespace roentgen::dist {
namespace {

class SingleCommunicator final : public Communicator {
 public:
  [[nodiscard]] std::string_view name() const override { return "single"; }
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] int local_rank() const override { return 0; }
  [[nodiscard]] int local_size() const override { return 1; }
  [[nodiscard]] std::string_view host(int /*rank*/) const override { return "this host"; }

  Pending broadcast(std::span<std::byte>, int root, Phase phase) override {
    if (root != 0) throw CommError(error_text("dist.single", phase.text(), "root 0", std::to_string(root), "it"));
    return {};
  }
  Pending all_reduce_sum(std::span<float>, Phase) override { return {}; }
  Pending all_reduce_sum(std::span<double>, Phase) override { return {}; }
  Pending all_reduce_mean(std::span<float>, Phase) override { return {}; }
  Pending all_gather(std::span<const std::byte> own, std::span<std::byte> all, Phase phase) override {
    if (all.size() != own.size()) {
      throw CommError(error_text("dist.single", phase.text(), "room for " + std::to_string(own.size()) + " bytes",
                                 std::to_string(all.size()), "as many"));
    }
    if (!own.empty()) std::memmove(all.data(), own.data(), own.size());
    return {};
  }
  Pending barrier(Phase) override { return {}; }
  void abandon() noexcept override {}

 protected:
  [[nodiscard]] bool poll(std::int64_t) override { return true; }
  [[nodiscard]] std::vector<int> missing(std::int64_t) const override { return {}; }
};

}  // namespace

std::unique_ptr<Communicator> make_single_communicator() {
  if (const auto launched = launched_rank(); launched && launched->size > 1) {
    throw CommError(error_text("dist.single", "communicator single", "one process",
                               std::to_string(launched->size) + " launched together", "a launch without mpirun"));
  }
  return std::make_unique<SingleCommunicator>();
}

}  // namespace roentgen::dist
