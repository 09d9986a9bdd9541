// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A naive interpreter in double of the ONNX operators that to_onnx() uses, written from ONNX's docs/Operators.md. Test
// code only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "io/onnx.h"

namespace roentgen::publish::testing {

/// A tensor, row-major.
struct Array {
  Shape shape;
  std::vector<double> values;
};

/// Returns an element of an (N, C, H, W) array, or `outside` if y or x lies outside of the image.
inline double at(const Array& a, std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x, double outside) {
  if (y < 0 || y >= a.shape[2] || x < 0 || x >= a.shape[3]) return outside;
  return a.values[static_cast<std::size_t>(((n * a.shape[1] + c) * a.shape[2] + y) * a.shape[3] + x)];
}

/// Runs nodes in the given order. An unknown operator, or a value that two nodes write, fails the test.
class Interpreter {
 public:
  /// Starts with the model's initializers as values.
  explicit Interpreter(const io::OnnxModel& model) {
    for (const io::OnnxTensor& tensor : model.initializers) {
      EXPECT_TRUE(
          values_.emplace(tensor.name, Array{tensor.shape, {tensor.values.begin(), tensor.values.end()}}).second)
          << tensor.name << " twice";
    }
  }
  /// Sets an input of the model.
  void set(const std::string& name, Array value) { values_[name] = std::move(value); }
  /// Returns a value. Throws std::out_of_range if no node has written it.
  [[nodiscard]] const Array& get(const std::string& name) const { return values_.at(name); }

  /// Runs one node.
  void run(const io::OnnxNode& node) {
    attributes_ = {node.attributes.begin(), node.attributes.end()};
    in_.clear();
    for (const std::string& name : node.inputs) in_.push_back(&values_.at(name));
    Array out;
    if (node.op == "Conv")
      out = convolution();
    else if (node.op == "MaxPool" || node.op == "AveragePool")
      out = pool(node.op == "MaxPool");
    else if (node.op == "BatchNormalization")
      out = batch_norm();
    else if (node.op == "GlobalAveragePool")
      out = global_pool();
    else if (node.op == "Gemm")
      out = gemm();
    else if (node.op == "MatMul")
      out = matrix_product();
    else if (node.op == "Concat")
      out = concat();
    else if (node.op == "Softmax")
      out = softmax();
    else if (node.op == "Flatten")
      out = {{in(0).shape[0], in(0).shape.elements() / in(0).shape[0]}, in(0).values};
    else if (node.op == "Identity")
      out = in(0);
    else if (node.op == "Relu")
      out = map([](double v) { return std::max(v, 0.0); });
    else if (node.op == "Sigmoid")
      out = map([](double v) { return 1.0 / (1.0 + std::exp(-v)); });
    else if (node.op == "Add")
      out = combine([](double a, double b) { return a + b; });
    else if (node.op == "Mul")
      out = combine([](double a, double b) { return a * b; });
    else if (node.op == "Div")
      out = combine([](double a, double b) { return a / b; });
    else
      FAIL() << "operator " << node.op;
    EXPECT_TRUE(values_.emplace(node.outputs.at(0), std::move(out)).second) << node.outputs[0] << " twice";
  }

 private:
  const Array& in(std::size_t i) const { return *in_.at(i); }
  std::vector<std::int64_t> ints(const std::string& name) const {
    return std::get<std::vector<std::int64_t>>(attributes_.at(name));
  }
  std::int64_t integer(const std::string& name) const { return std::get<std::int64_t>(attributes_.at(name)); }

  template <typename F>
  Array map(const F& f) const {
    Array out = in(0);
    for (double& v : out.values) v = f(v);
    return out;
  }
  // Applies a function to two arrays. Broadcasts as numpy does, for equal ranks or a second operand of one element.
  template <typename F>
  Array combine(const F& f) const {
    const Array &a = in(0), &b = in(1);
    std::vector<std::int64_t> dims = a.shape.dims(), other = b.shape.dims();
    other.insert(other.begin(), dims.size() - other.size(), 1);
    for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = std::max(dims[i], other[i]);
    Array out{Shape(dims), {}};
    for (std::int64_t i = 0; i < out.shape.elements(); ++i) {
      std::int64_t rest = i, at_a = 0, at_b = 0, step_a = 1, step_b = 1;
      for (std::size_t axis = dims.size(); axis-- > 0;) {
        const std::int64_t index = rest % dims[axis];
        rest /= dims[axis];
        if (a.shape.dims()[axis] > 1) at_a += index * step_a;
        if (other[axis] > 1) at_b += index * step_b;
        step_a *= a.shape.dims()[axis];
        step_b *= other[axis];
      }
      out.values.push_back(f(a.values[static_cast<std::size_t>(at_a)], b.values[static_cast<std::size_t>(at_b)]));
    }
    return out;
  }
  Shape window_shape(std::int64_t channels) const {
    const auto kernel = ints("kernel_shape"), stride = ints("strides"), pads = ints("pads");
    const auto dilation = attributes_.contains("dilations") ? ints("dilations") : std::vector<std::int64_t>{1, 1};
    const auto size = [&](int axis) {
      const auto i = static_cast<std::size_t>(axis);
      return (in(0).shape[axis + 2] + pads[i] + pads[i + 2] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
    };
    return {in(0).shape[0], channels, size(0), size(1)};
  }
  Array convolution() const {
    const auto kernel = ints("kernel_shape"), stride = ints("strides"), pads = ints("pads"),
               dilation = ints("dilations");
    const std::int64_t OC = in(1).shape[0], IC = in(1).shape[1], groups = integer("group");
    Array out{window_shape(OC), {}};
    for (std::int64_t i = 0; i < out.shape.elements(); ++i) {
      const std::int64_t x = i % out.shape[3], y = i / out.shape[3] % out.shape[2];
      const std::int64_t o = i / (out.shape[2] * out.shape[3]) % OC, n = i / (OC * out.shape[2] * out.shape[3]);
      double sum = in_.size() > 2 ? in(2).values[static_cast<std::size_t>(o)] : 0.0;
      for (std::int64_t c = 0; c < IC; ++c) {
        for (std::int64_t ky = 0; ky < kernel[0]; ++ky) {
          for (std::int64_t kx = 0; kx < kernel[1]; ++kx) {
            sum += at(in(1), o, c, ky, kx, 0.0) * at(in(0), n, o / (OC / groups) * IC + c,
                                                     y * stride[0] - pads[0] + ky * dilation[0],
                                                     x * stride[1] - pads[1] + kx * dilation[1], 0.0);
          }
        }
      }
      out.values.push_back(sum);
    }
    return out;
  }
  Array pool(bool is_max) const {
    const auto kernel = ints("kernel_shape"), stride = ints("strides"), pads = ints("pads");
    const std::int64_t C = in(0).shape[1];
    const bool counts_pad = !is_max && integer("count_include_pad") != 0;
    Array out{window_shape(C), {}};
    for (std::int64_t i = 0; i < out.shape.elements(); ++i) {
      const std::int64_t x = i % out.shape[3], y = i / out.shape[3] % out.shape[2];
      const std::int64_t c = i / (out.shape[2] * out.shape[3]) % C, n = i / (C * out.shape[2] * out.shape[3]);
      double sum = 0.0, most = -std::numeric_limits<double>::infinity(), count = 0.0;
      for (std::int64_t ky = 0; ky < kernel[0]; ++ky) {
        for (std::int64_t kx = 0; kx < kernel[1]; ++kx) {
          const double v = at(in(0), n, c, y * stride[0] - pads[0] + ky, x * stride[1] - pads[1] + kx, NAN);
          if (std::isnan(v)) continue;
          sum += v;
          most = std::max(most, v);
          count += 1.0;
        }
      }
      const double whole = static_cast<double>(kernel[0] * kernel[1]);
      out.values.push_back(is_max ? most : sum / (counts_pad ? whole : count));
    }
    return out;
  }
  Array batch_norm() const {
    const double epsilon = static_cast<double>(std::get<float>(attributes_.at("epsilon")));
    Array out = in(0);
    const std::int64_t C = out.shape[1], plane = out.shape[2] * out.shape[3];
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      const auto c = static_cast<std::size_t>(static_cast<std::int64_t>(i) / plane % C);
      out.values[i] =
          in(1).values[c] * (out.values[i] - in(3).values[c]) / std::sqrt(in(4).values[c] + epsilon) + in(2).values[c];
    }
    return out;
  }
  Array global_pool() const {
    Array out{{in(0).shape[0], in(0).shape[1], 1, 1}, {}};
    const auto plane = static_cast<std::size_t>(in(0).shape[2] * in(0).shape[3]);
    for (std::size_t i = 0; i < in(0).values.size(); i += plane) {
      const auto begin = in(0).values.begin() + static_cast<std::ptrdiff_t>(i);
      out.values.push_back(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(plane), 0.0) /
                           static_cast<double>(plane));
    }
    return out;
  }
  Array gemm() const {
    EXPECT_EQ(integer("transB"), 1);
    const auto N = static_cast<std::size_t>(in(0).shape[0]), I = static_cast<std::size_t>(in(0).shape[1]),
               O = static_cast<std::size_t>(in(1).shape[0]);
    Array out{{in(0).shape[0], in(1).shape[0]}, {}};
    for (std::size_t n = 0; n < N; ++n) {
      for (std::size_t o = 0; o < O; ++o) {
        double sum = in_.size() > 2 ? in(2).values[o] : 0.0;
        for (std::size_t i = 0; i < I; ++i) sum += in(0).values[n * I + i] * in(1).values[o * I + i];
        out.values.push_back(sum);
      }
    }
    return out;
  }
  // Returns the matrix product of (N, C, I, J) and (N, C, J, K); the first or second factor has N = C = 1.
  Array matrix_product() const {
    const Array &a = in(0), &b = in(1);
    const std::int64_t I = a.shape[2], J = a.shape[3], K = b.shape[3];
    EXPECT_EQ(b.shape[2], J);
    Array out{{std::max(a.shape[0], b.shape[0]), std::max(a.shape[1], b.shape[1]), I, K}, {}};
    const std::int64_t planes = out.shape[0] * out.shape[1];
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      const std::int64_t at_a = a.shape[0] * a.shape[1] == planes ? plane * I * J : 0;
      const std::int64_t at_b = b.shape[0] * b.shape[1] == planes ? plane * J * K : 0;
      for (std::int64_t i = 0; i < I; ++i) {
        for (std::int64_t k = 0; k < K; ++k) {
          double sum = 0.0;
          for (std::int64_t j = 0; j < J; ++j) {
            sum += a.values[static_cast<std::size_t>(at_a + i * J + j)] *
                   b.values[static_cast<std::size_t>(at_b + j * K + k)];
          }
          out.values.push_back(sum);
        }
      }
    }
    return out;
  }
  Array concat() const {
    EXPECT_EQ(integer("axis"), 1);
    std::vector<std::int64_t> dims = in(0).shape.dims();
    dims[1] = 0;
    for (const Array* each : in_) dims[1] += each->shape[1];
    Array out{Shape(dims), {}};
    for (std::int64_t n = 0; n < dims[0]; ++n) {
      for (const Array* each : in_) {
        const std::int64_t size = each->shape.elements() / dims[0];
        out.values.insert(out.values.end(), each->values.begin() + n * size, each->values.begin() + (n + 1) * size);
      }
    }
    return out;
  }
  Array softmax() const {
    Array out = in(0);
    const auto K = static_cast<std::size_t>(out.shape[1]);
    for (std::size_t row = 0; row < out.values.size(); row += K) {
      double sum = 0.0;
      for (std::size_t k = row; k < row + K; ++k) sum += out.values[k] = std::exp(out.values[k]);
      for (std::size_t k = row; k < row + K; ++k) out.values[k] /= sum;
    }
    return out;
  }

  std::map<std::string, Array> values_;
  std::map<std::string, io::OnnxAttribute> attributes_;
  std::vector<const Array*> in_;
};

}  // namespace roentgen::publish::testing
