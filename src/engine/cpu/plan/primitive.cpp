// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/plan/primitive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "engine/cpu/plan/primitive_internal.h"

namespace roentgen::engine::cpu {
namespace {
// Kernel of a oneDNN primitive. Memory objects are created once; bind() only changes their addresses.
class Primitive final : public Kernel {
 public:
  Primitive(dnnl::primitive primitive, const std::vector<Argument>& arguments)
      : primitive_(std::move(primitive)), stream_(library_engine()) {
    for (const Argument& argument : arguments) {
      memories_.emplace_back(argument.desc, library_engine(), nullptr);
      tensors_.push_back(argument.tensor);
      exec_.push_back({argument.index, memories_.back().get()});
    }
  }
  void bind(const Addresses& addresses) override {
    for (std::size_t i = 0; i < memories_.size(); ++i) memories_[i].set_data_handle(addresses.bytes(tensors_[i]));
  }
  void run() override {
    const dnnl_status_t status =
        dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(exec_.size()), exec_.data());
    if (status != dnnl_success) {
      throw DeviceError(error_text("engine.cpu", "oneDNN kernel", "a call without error", dnnl_status2str_text(status),
                                   "reporting this bug"));
    }
  }

 private:
  static std::string dnnl_status2str_text(dnnl_status_t status) {
    return "status " + std::to_string(static_cast<int>(status));
  }
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<dnnl::memory> memories_;
  std::vector<TensorId> tensors_;
  std::vector<dnnl_exec_arg_t> exec_;
};

class WeightsLayout final : public ParameterLayout {
 public:
  WeightsLayout(const dnnl::memory::desc& plain, const dnnl::memory::desc& kernel, std::string name)
      : plain_(plain), kernel_(kernel), name_(std::move(name)) {}
  [[nodiscard]] std::int64_t elements() const override {
    return static_cast<std::int64_t>(kernel_.get_size() / sizeof(float));
  }
  [[nodiscard]] std::string name() const override { return name_; }
  void to_kernel(std::span<const float> plain, std::span<float> kernel) const override {
    reorder(plain_, const_cast<float*>(plain.data()), kernel_, kernel.data());
  }
  void to_plain(std::span<const float> kernel, std::span<float> plain) const override {
    reorder(kernel_, const_cast<float*>(kernel.data()), plain_, plain.data());
  }

 private:
  static void reorder(const dnnl::memory::desc& from_desc, float* from_data, const dnnl::memory::desc& to_desc,
                      float* to_data) {
    dnnl::memory from(from_desc, library_engine(), from_data);
    dnnl::memory to(to_desc, library_engine(), to_data);
    dnnl::stream stream(library_engine());
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
  }
  dnnl::memory::desc plain_;
  dnnl::memory::desc kernel_;
  std::string name_;
};

dnnl::memory::dims dims_of(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

dnnl::memory::format_tag tag_of(const Shape& shape, Layout layout) {
  using Tag = dnnl::memory::format_tag;
  if (shape.rank() == 1) return Tag::a;
  if (shape.rank() == 2) return Tag::ab;
  switch (layout.block) {
    case 4:
      return Tag::nChw4c;
    case 8:
      return Tag::nChw8c;
    case 16:
      return Tag::nChw16c;
    default:
      return Tag::nchw;
  }
}
}  // namespace

const dnnl::engine& library_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::memory::desc descriptor(const Shape& shape, Layout layout) {
  const auto type = layout.dtype == DType::Bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
  return {dims_of(shape), type, tag_of(shape, layout)};
}

dnnl::memory::desc any_descriptor(const dnnl::memory::dims& dims) {
  return {dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

dnnl::memory::desc plain_descriptor(const dnnl::memory::dims& dims) {
  dnnl::memory::dims strides(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  return {dims, dnnl::memory::data_type::f32, strides};
}

Layout layout_of(const dnnl::memory::desc& desc, const Shape& shape) {
  for (const int block : {1, 4, 8, 16}) {
    if (desc == descriptor(shape, Layout::blocked(block))) return Layout::blocked(block);
  }
  return {.order = Order::ChannelsLast};
}

std::unique_ptr<Kernel> primitive_kernel(const dnnl::primitive& primitive, const std::vector<Argument>& arguments) {
  return std::make_unique<Primitive>(primitive, arguments);
}

std::unique_ptr<ParameterLayout> weights_layout(const dnnl::memory::desc& plain, const dnnl::memory::desc& kernel,
                                                std::string name) {
  return std::make_unique<WeightsLayout>(plain, kernel, std::move(name));
}

void add_scratchpad(Lowering& lowering, const dnnl::memory::desc& scratchpad, Emission& emission,
                    std::vector<Argument>& arguments) {
  if (scratchpad.get_size() == 0) return;
  const TensorId tensor = lowering.scratch("scratch", scratchpad.get_size());
  emission.writes.push_back(tensor);
  arguments.push_back({DNNL_ARG_SCRATCHPAD, tensor, scratchpad});
}

bool is_reference(const char* implementation) { return std::string_view(implementation).starts_with("ref"); }

std::unique_ptr<Kernel> reorder_kernel(const Located& from, const Located& to) {
  const dnnl::memory::desc from_desc = descriptor(from.shape, from.layout);
  const dnnl::memory::desc to_desc = descriptor(to.shape, to.layout);
  const dnnl::reorder::primitive_desc pd(library_engine(), from_desc, library_engine(), to_desc);
  return primitive_kernel(dnnl::reorder(pd),
                          {{DNNL_ARG_FROM, from.tensor, from_desc}, {DNNL_ARG_TO, to.tensor, to_desc}});
}

std::string library_description() {
  constexpr std::array<std::pair<dnnl::cpu_isa, std::string_view>, 7> kNames{
      {{dnnl::cpu_isa::avx512_core_amx, "AVX512_CORE_AMX"},
       {dnnl::cpu_isa::avx512_core_bf16, "AVX512_CORE_BF16"},
       {dnnl::cpu_isa::avx512_core_vnni, "AVX512_CORE_VNNI"},
       {dnnl::cpu_isa::avx512_core, "AVX512_CORE"},
       {dnnl::cpu_isa::avx2_vnni, "AVX2_VNNI"},
       {dnnl::cpu_isa::avx2, "AVX2"},
       {dnnl::cpu_isa::sse41, "SSE41"}}};
  const auto found = std::ranges::find(kNames, dnnl::get_effective_cpu_isa(), &decltype(kNames)::value_type::first);
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("oneDNN {}.{}.{}, {}", version->major, version->minor, version->patch,
                     found == kNames.end() ? "other" : found->second);
}

}  // namespace roentgen::engine::cpu
