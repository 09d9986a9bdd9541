// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Communicator of one process. Every operation except a composite is done when it is started. It refuses to run as one
// of several processes of a launcher, because each would train alone and overwrite the others' files.
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
    require_rank(root, phase);
    return {};
  }
  Pending all_reduce_sum(std::span<float>, Phase) override { return {}; }
  Pending all_reduce_sum(std::span<double>, Phase) override { return {}; }
  Pending all_reduce_mean(std::span<float>, Phase) override { return {}; }
  Pending all_gather(std::span<const std::byte> own, std::span<std::byte> all, Phase phase) override {
    require_parts(own.size(), all.size(), phase);
    return copy(own, all);
  }
  Pending reduce_sum(std::span<float>, int root, Phase phase) override {
    require_rank(root, phase);
    return {};
  }
  Pending scatter(std::span<const std::byte> all, std::span<std::byte> own, int root, Phase phase) override {
    require_rank(root, phase);
    require_parts(own.size(), all.size(), phase);
    return copy(all, own);
  }
  Pending gather(std::span<const std::byte> own, std::span<std::byte> all, int root, Phase phase) override {
    require_rank(root, phase);
    require_parts(own.size(), all.size(), phase);
    return copy(own, all);
  }
  Pending all_to_all(std::span<const std::byte> given, std::span<std::byte> taken, Phase phase) override {
    require_exchange(given, taken, phase);
    return copy(given, taken);
  }
  Pending barrier(Phase) override { return {}; }
  Pending compose(Composite& composite, Phase phase) override {
    composites_.push_back(&composite);
    return {*this, std::ssize(composites_) - 1, phase};
  }
  void abandon() noexcept override {}

 protected:
  [[nodiscard]] bool poll(std::int64_t ticket) override {
    return composites_[static_cast<std::size_t>(ticket)]->advance(kUserTags);
  }
  [[nodiscard]] std::vector<int> missing(std::int64_t) const override { return {0}; }

 private:
  static Pending copy(std::span<const std::byte> from, std::span<std::byte> to) {
    if (!from.empty()) std::memmove(to.data(), from.data(), from.size());
    return {};
  }
  std::vector<Composite*> composites_;
};

}  // namespace

std::unique_ptr<Communicator> make_single_communicator() {
  if (const auto launched = launched_rank(); launched && launched->size > 1) {
    throw CommError(error_text("dist.single", "communicator single", "one process",
                               std::to_string(launched->size) + " started together", "starting without mpirun"));
  }
  return std::make_unique<SingleCommunicator>();
}

}  // namespace roentgen::dist
