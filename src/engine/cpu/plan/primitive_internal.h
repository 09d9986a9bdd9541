// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Handling of oneDNN primitives, for the source files of ops that use them (conv2d, linear, pooling). A port to oneDNN
// 3.x changes only this file and those.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cpu/plan/lowering.h"
#include "engine/plan/kernel.h"
#include "engine/plan/layout.h"
#include "engine/plan/parameter_layout.h"

namespace roentgen::engine::cpu {

/// The one CPU engine object of the library, and a stream on it. Thread-safe.
[[nodiscard]] const dnnl::engine& library_engine();

/// Attributes every primitive gets: scratchpad memory comes from our plan.
[[nodiscard]] dnnl::primitive_attr user_scratchpad();

/// Descriptor of a value in a layout.
[[nodiscard]] dnnl::memory::desc descriptor(const Shape& shape, Layout layout);
/// Descriptor that leaves the layout to the primitive.
[[nodiscard]] dnnl::memory::desc any_descriptor(const dnnl::memory::dims& dims);
/// Row-major descriptor.
[[nodiscard]] dnnl::memory::desc plain_descriptor(const dnnl::memory::dims& dims);
/// Layout of a descriptor; Order::ChannelsLast for any that is neither plain nor blocked.
[[nodiscard]] Layout layout_of(const dnnl::memory::desc& desc, const Shape& shape);

/// One argument of a primitive: DNNL_ARG_*, tensor, descriptor.
struct Argument {
  int index;
  TensorId tensor;
  dnnl::memory::desc desc;
};

/// A primitive with its arguments as a kernel. Executes through the C interface, which takes a plain array: no
/// allocation of ours per call.
[[nodiscard]] std::unique_ptr<Kernel> primitive_kernel(const dnnl::primitive& primitive,
                                                       const std::vector<Argument>& arguments);

/// Weights in a primitive's layout.
[[nodiscard]] std::unique_ptr<ParameterLayout> weights_layout(const dnnl::memory::desc& plain,
                                                              const dnnl::memory::desc& kernel, std::string name);

/// Adds the scratchpad of a primitive to an entry and its arguments, when it wants one.
void add_scratchpad(Lowering& lowering, const dnnl::memory::desc& scratchpad, Emission& emission,
                    std::vector<Argument>& arguments);

/// Arguments that an entry's primitive reads and writes, but for its scratchpad.
struct PrimitiveArguments {
  std::vector<Argument> reads;
  std::vector<Argument> writes;
};
/// Emits the entry of a primitive by its descriptor: reads, writes and implementation of `emission` follow from these.
template <typename Primitive>
void emit_primitive(Lowering& lowering, const graph::Node& node, Emission emission,
                    const typename Primitive::primitive_desc& pd, const PrimitiveArguments& arguments) {
  std::vector<Argument> all = arguments.reads;
  all.insert(all.end(), arguments.writes.begin(), arguments.writes.end());
  for (const Argument& argument : arguments.reads) emission.reads.push_back(argument.tensor);
  for (const Argument& argument : arguments.writes) emission.writes.push_back(argument.tensor);
  if (emission.implementation.empty()) emission.implementation = pd.impl_info_str();
  add_scratchpad(lowering, pd.scratchpad_desc(), emission, all);
  lowering.emit(node, std::move(emission), primitive_kernel(Primitive(pd), all));
}

/// True when the library fell back to its reference implementation: a thousand times slower.
[[nodiscard]] bool is_reference(const char* implementation);

}  // namespace roentgen::engine::cpu
