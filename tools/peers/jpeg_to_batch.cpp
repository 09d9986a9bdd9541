// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One worker on one core: gray JPEG radiographs in memory to normalised rows of a batch. Three ways, each with our
// resize: decoded smaller by our decoder, as preprocessing does by default; by libjpeg-turbo at the same reduced size;
// and decoded whole by libjpeg-turbo. Rounds are interleaved.
//
//   jpeg_to_batch FOLDER [ROUNDS [SIZE]]
//
// Prints a line of JSON a round: milliseconds of processor time an image for each, and how far the inputs of the first
// are from those of the last, in gray levels of 255.
#include <fmt/core.h>
#include <turbojpeg.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "data/codec/codec.h"
#include "data/transform/geometry.h"
#include "data/transform/transform.h"

namespace {

using namespace roentgen;
using Bytes = std::vector<std::byte>;

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  Bytes bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

double processor_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// One way from files to inputs; the files' order is the rows'.
class Way {
 public:
  explicit Way(const data::Preprocess& preprocess, bool is_turbo = false)
      : preprocess_(preprocess),
        row_(data::slot_bytes(preprocess, DType::F32) / sizeof(float)),
        turbo_(is_turbo ? tjInitDecompress() : nullptr) {}
  ~Way() {
    if (turbo_ != nullptr) tjDestroy(turbo_);
  }
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;

  const std::vector<float>& run(const Bytes& file) {
    data::DecodeOptions options{.channels = data::Channels::Gray, .limits = {}};
    options.need = [this](const data::ImageLayout& picture) { return data::need_of(picture, preprocess_, {}); };
    const double begin = processor_s();
    if (turbo_ != nullptr) {
      decode_by_turbo(file);
    } else if (!decoder_.decode(file, "file", options, image_)) {
      std::abort();
    }
    transformer_.apply(image_, preprocess_, nullptr, {std::as_writable_bytes(std::span(row_)), DType::F32});
    seconds_ += processor_s() - begin;
    return row_;
  }
  [[nodiscard]] double take_s() { return std::exchange(seconds_, 0.0); }

 private:
  // The whole picture at the reduction that the input needs.
  void decode_by_turbo(const Bytes& file) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(file.data());
    int width = 0, height = 0, subsampling = 0, colours = 0;
    if (tjDecompressHeader3(turbo_, bytes, file.size(), &width, &height, &subsampling, &colours) != 0) std::abort();
    data::ImageLayout layout{.width_px = width, .height_px = height};
    const int reduction = data::need_of(layout, preprocess_, {}).reduction;
    const tjscalingfactor factor{1, reduction};
    layout.width_px = TJSCALED(width, factor);
    layout.height_px = TJSCALED(height, factor);
    image_.reset(layout, {.reduction = reduction, .picture_width_px = width, .picture_height_px = height});
    if (tjDecompress2(turbo_, bytes, file.size(), reinterpret_cast<unsigned char*>(image_.bytes().data()),
                      static_cast<int>(layout.width_px), static_cast<int>(layout.row_bytes()),
                      static_cast<int>(layout.height_px), TJPF_GRAY, 0) != 0) {
      std::abort();
    }
  }

  data::Preprocess preprocess_;
  std::vector<float> row_;
  tjhandle turbo_;
  data::Decoder decoder_;
  data::Transformer transformer_;
  data::Image image_;
  double seconds_ = 0.0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  std::vector<Bytes> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) files.push_back(read_file(entry.path()));
  data::Preprocess preprocess = data::preset("unit");
  preprocess.size_px = argc > 3 ? std::atoi(argv[3]) : 224;
  preprocess.jpeg = data::JpegSize::Scaled;
  Way scaled(preprocess), turbo(preprocess, true);
  preprocess.jpeg = data::JpegSize::Exact;
  Way exact(preprocess);
  for (int round = 0; round < rounds; ++round) {
    double mean = 0.0, largest = 0.0, values = 0.0;
    for (const Bytes& file : files) {
      const std::vector<float>& is = scaled.run(file);
      turbo.run(file);
      const std::vector<float>& should = exact.run(file);
      for (std::size_t i = 0; i < is.size(); ++i) {
        const double difference = 255.0 * std::abs(static_cast<double>(is[i]) - static_cast<double>(should[i]));
        mean += difference;
        largest = std::max(largest, difference);
      }
      values += static_cast<double>(is.size());
    }
    const auto ms = [&](Way& way) { return 1e3 * way.take_s() / static_cast<double>(files.size()); };
    fmt::print(
        "{{\"images\": {}, \"scaled_ms\": {:.4f}, \"turbo_scaled_ms\": {:.4f}, \"exact_ms\": {:.4f}, \"mean_levels\": {:.4f}, "
        "\"largest_levels\": {:.2f}}}\n",
        files.size(), ms(scaled), ms(turbo), ms(exact), mean / values, largest);
  }
}
