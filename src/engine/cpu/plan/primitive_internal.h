// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Handling of oneDNN primitives, for the source files of ops that use them (conv2d, linear, pooling). A port to oneDNN
// 3.x would change only this file and those sources.
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

/// The only CPU engine object of oneDNN in this process. Thread-safe.
[[nodiscard]] const dnnl::engine& library_engine();

/// Attributes of every primitive: our plan provides the scratchpad memory.
[[nodiscard]] dnnl::primitive_attr user_scratchpad();

/// Descriptor of a value in a layout.
[[nodiscard]] dnnl::memory::desc descriptor(const Shape& shape, Layout layout);
/// Descriptor that lets the primitive choose the layout.
[[nodiscard]] dnnl::memory::desc any_descriptor(const dnnl::memory::dims& dims);
/// Row-major descriptor.
[[nodiscard]] dnnl::memory::desc plain_descriptor(const dnnl::memory::dims& dims);
/// Layout of a descriptor. Returns Order::ChannelsLast for any that is neither plain nor blocked.
[[nodiscard]] Layout layout_of(const dnnl::memory::desc& desc, const Shape& shape);

/// One argument of a primitive: its DNNL_ARG_* index, tensor and descriptor.
struct Argument {
  int index;
  TensorId tensor;
  dnnl::memory::desc desc;
};

/// Kernel that runs a primitive with its arguments. It calls oneDNN's C interface, which takes a plain array, so that a
/// call allocates nothing.
[[nodiscard]] std::unique_ptr<Kernel> primitive_kernel(const dnnl::primitive& primitive,
                                                       const std::vector<Argument>& arguments);

/// Layout of a parameter in the order that a primitive needs.
[[nodiscard]] std::unique_ptr<ParameterLayout> weights_layout(const dnnl::memory::desc& plain,
                                                              const dnnl::memory::desc& kernel, std::string name);

/// Adds the scratchpad of a primitive to an entry and its arguments, if the primitive needs one.
void add_scratchpad(Lowering& lowering, const dnnl::memory::desc& scratchpad, Emission& emission,
                    std::vector<Argument>& arguments);

/// Arguments that a primitive reads and writes, except its scratchpad.
struct PrimitiveArguments {
  std::vector<Argument> reads;
  std::vector<Argument> writes;
};
/// Emits the entry of a primitive. Sets reads, writes and, if empty, the implementation of `emission` from `pd` and
/// `arguments`.
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

/// True if oneDNN fell back to its reference implementation, which is a thousand times slower.
[[nodiscard]] bool is_reference(const char* implementation);

}  // namespace roentgen::engine::cpu
