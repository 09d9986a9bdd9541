// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/foreign_weights.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/foreign_text.h"

namespace roentgen::io {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kHead_bytes = 512;

std::string torch_conversion(const std::filesystem::path& path) {
  const std::string target = std::filesystem::path(path).replace_extension(".safetensors").string();
  return "roentgen convert-weights " + shell_word(path.string()) + " " + shell_word(target);
}

std::string numpy_conversion(const std::filesystem::path& path) {
  const std::string target = std::filesystem::path(path).replace_extension(".safetensors").string();
  return "running in Python: import numpy, safetensors.numpy; safetensors.numpy.save_file(dict(numpy.load(" +
         python_string(path.string()) + ")), " + python_string(target) + ")";
}

}  // namespace

std::optional<Failure> foreign_weights(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kHead_bytes));
  const auto named = [&](std::string_view format, std::string_view remedy) {
    return failure("io.safetensors", path.string(), "a safetensors file", format, remedy);
  };
  const std::string ending = path.extension().string();
  const bool is_torch_name = ending == ".pt" || ending == ".pth" || ending == ".ckpt";
  const auto is_pickle = [&] { return head.size() > 1 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5; };
  if (head.starts_with("PK\x03\x04"sv)) {
    if (head.find(".npy") != std::string_view::npos) return named("a NumPy archive", numpy_conversion(path));
    if (head.find(".pkl") != std::string_view::npos || is_torch_name) {
      return named("a PyTorch file", torch_conversion(path));
    }
    return named("a zip archive", "unpacking the safetensors file in it");
  }
  if (is_pickle()) return named("a PyTorch file from before version 1.6, or another pickle", torch_conversion(path));
  if (head.starts_with("\x89HDF\r\n\x1a\n"sv)) {
    return named("an HDF5 file, such as Keras writes",
                 "PyTorch weights with torchvision's names, saved as safetensors");
  }
  if (head.starts_with("\x1f\x8b"sv)) return named("a gzip file", "unpacking it with gunzip");
  if (head.starts_with("version https://git-lfs"sv))
    return named("a Git LFS pointer without the file", "running git lfs pull");
  if (head.starts_with("<!DOCTYPE"sv) || head.starts_with("<!doctype"sv) || head.starts_with("<html"sv)) {
    return named("a web page", "downloading the file itself");
  }
  if (is_torch_name) return named("a PyTorch file, judging by its name", torch_conversion(path));
  if (path.extension() == ".onnx") return named("an ONNX file", "the PyTorch weights that it was exported from");
  return std::nullopt;
}

}  // namespace roentgen::io
