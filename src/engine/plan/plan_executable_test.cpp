// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/plan/plan_executable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "engine/plan/toy_builder_testing.h"

namespace roentgen::engine {
namespace {

struct OwnDevice {
  std::unique_ptr<runtime::Device> device = runtime::make_cpu_device();
};

// Executable whose kernels only record that they ran. Outputs stay in the plan's memory.
class ToyExecutable final : private OwnDevice, public PlanExecutable {
 public:
  explicit ToyExecutable(const CompileOptions& given) : PlanExecutable(toy_network(), given, *device) {
    ToyBuilder builder(graph(), options(), Layout{});
    builder.build();
    take(builder, finish_plan(builder));
    for (const InputSpec& input : inputs()) slots_.emplace_back(input.bytes);
    bind_slot(0);
    runner().bind(memory().addresses());
  }
  [[nodiscard]] std::span<std::byte> slot(std::int64_t input, int) override {
    return slots_.at(static_cast<std::size_t>(input));
  }
  void bind_slot(int) override {
    for (std::size_t i = 0; i < slots_.size(); ++i) bind_input(i, slots_[i].data());
  }
  void set_step(std::int64_t) override {}
  void forward() override { runner().forward(); }
  void backward(const BucketCallback& on_bucket) override {
    require_training();
    runner().backward(on_bucket);
  }
  [[nodiscard]] std::span<const float> read(std::string_view name) const override {
    const Output& output = outputs()[output_index(name)];
    return {memory().addresses().f32(output.tensor), output.bytes / sizeof(float)};
  }
  void begin_update() override {}
  const runtime::Event& update(const UpdateRule&, const UpdateWork&) override { return runtime::reached_event(); }
  [[nodiscard]] double read_norm() const override { return 0.0; }
  [[nodiscard]] bool has_loss() const { return loss_index() && outputs()[*loss_index()].name == "loss"; }

 private:
  std::vector<std::vector<std::byte>> slots_;
};

TEST(PlanExecutable, has_the_inputs_outputs_and_arenas_of_its_plan) {
  ToyExecutable executable({});
  EXPECT_EQ(executable.inputs().size(), 3U);
  EXPECT_EQ(executable.read("logits").size(), 6U);
  EXPECT_TRUE(executable.has_loss());
  EXPECT_EQ(executable.gradients().elements(), executable.parameters().elements());
  EXPECT_EQ(executable.buckets().back().begin + executable.buckets().back().count, executable.parameters().elements());
  std::vector<std::int64_t> told;
  executable.forward();
  executable.backward([&](std::int64_t bucket, const runtime::Event&) { told.push_back(bucket); });
  EXPECT_EQ(told.size(), executable.buckets().size());
  EXPECT_EQ(executable.profile().size(), executable.plan().entries.size());
}

TEST(PlanExecutable, refuses_unknown_outputs_and_the_backward_of_inference) {
  ToyExecutable executable({.form = Form::Inference});
  EXPECT_THROW(static_cast<void>(executable.read("nothing")), ConfigError);
  EXPECT_THROW(executable.backward({}), ConfigError);
  EXPECT_THROW(ToyExecutable({.slots = 0}), ConfigError);
}

TEST(PlanExecutable, normalises_pixels_in_an_entry_before_all_others) {
  const ToyExecutable values({}),
      pixels({.input_norm = InputNorm{.dtype = DType::U8, .mean = {0.1, 0.2, 0.3}, .stddev = {1.0, 1.0, 1.0}}});
  const PlanEntry& first = pixels.plan().entries.front();
  EXPECT_EQ(first.name, "image/normalise");
  const PlanTensor& slot = pixels.plan().tensors[static_cast<std::size_t>(first.reads[0])];
  EXPECT_EQ(slot.storage, Storage::Input);
  EXPECT_EQ(slot.layout, "nchw:u8");
  EXPECT_EQ(slot.bytes, pixels.inputs()[0].bytes);
  EXPECT_EQ(values.inputs()[0].bytes, 4 * slot.bytes);
  EXPECT_LT(pixels.plan().memory.inputs, values.plan().memory.inputs);
  EXPECT_NE(pixels.plan().hash(), values.plan().hash());
}

}  // namespace
}  // namespace roentgen::engine
