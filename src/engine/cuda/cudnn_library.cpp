// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/cuda/cudnn_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "core/error.h"

namespace roentgen::engine::cuda {
namespace {

constexpr const char* kRemedy = "pip install nvidia-cudnn-cu13, or setting ROENTGEN_CUDNN to the path of libcudnn.so.9";

std::string version_text(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function != nullptr) return;
  throw DeviceError(
      error_text("engine.cuda", "cuDNN", std::string("a library with function ") + name, "one without it", kRemedy));
}

// Loads the library. It stays open until the process ends, because cuDNN's threads and caches outlive handles.
CudnnLibrary load() {
  const char* chosen = std::getenv("ROENTGEN_CUDNN");
  const std::string file = chosen == nullptr ? "libcudnn.so.9" : chosen;
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    throw DeviceError(error_text("engine.cuda", "cuDNN", "version " + compiled_cudnn_version() + " or later",
                                 reason == nullptr ? file + ": not loaded" : reason, kRemedy));
  }
  CudnnLibrary found;
  find(library, "cudnnGetVersion", found.get_version);
  if (found.get_version() < CUDNN_VERSION) {
    throw DeviceError(error_text("engine.cuda", "cuDNN", "version " + compiled_cudnn_version() + " or later",
                                 version_text(found.get_version()), kRemedy));
  }
  find(library, "cudnnGetErrorString", found.get_error_string);
  find(library, "cudnnGetLastErrorString", found.get_last_error_string);
  find(library, "cudnnCreate", found.create);
  find(library, "cudnnDestroy", found.destroy);
  find(library, "cudnnSetStream", found.set_stream);
  find(library, "cudnnBackendCreateDescriptor", found.create_descriptor);
  find(library, "cudnnBackendDestroyDescriptor", found.destroy_descriptor);
  find(library, "cudnnBackendFinalize", found.finalize);
  find(library, "cudnnBackendSetAttribute", found.set_attribute);
  find(library, "cudnnBackendGetAttribute", found.get_attribute);
  find(library, "cudnnBackendExecute", found.execute);
  return found;
}

}  // namespace

std::string compiled_cudnn_version() { return version_text(CUDNN_VERSION); }

const CudnnLibrary& cudnn() {
  static const CudnnLibrary library = load();
  return library;
}

std::string cudnn_text() {
  return fmt::format("cuDNN {} (needs {})", version_text(cudnn().get_version()), compiled_cudnn_version());
}

void check(cudnnStatus_t status, std::string_view what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::string details(512, '\0');
  cudnn().get_last_error_string(details.data(), details.size());
  details.resize(details.find('\0') == std::string::npos ? details.size() : details.find('\0'));
  throw DeviceError(error_text("engine.cuda", what, "a cuDNN call without error",
                               fmt::format("{} ({})", cudnn().get_error_string(status), details),
                               "again, or --device cpu"));
}

CudnnHandle::CudnnHandle() { check(cudnn().create(&handle_), "cuDNN handle"); }
CudnnHandle::~CudnnHandle() { static_cast<void>(cudnn().destroy(handle_)); }

}  // namespace roentgen::engine::cuda
