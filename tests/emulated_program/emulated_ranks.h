// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fixture for tests of several ranks on emulated GPUs.
#pragma once

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "io/json.h"
#include "io/safetensors.h"
#include "tests/emulated_program/emulated_cards.h"
#include "tests/parallel/launch.h"

namespace roentgen::e2e {

// No batch norm and no dropout, so that ranks and accumulated batches compute the same.
inline constexpr std::string_view kPlainNet = R"(graph "plain"
input image (N, C, S, S)
conv1 = conv2d(image, out=16, kernel=3x3, stride=2x2, pad=1x1)
relu1 = relu(conv1)
conv2 = conv2d(relu1, out=24, kernel=3x3, stride=2x2, pad=1x1)
relu2 = relu(conv2)
conv3 = conv2d(relu2, out=24, kernel=3x3, stride=2x2, pad=1x1)
relu3 = relu(conv3)
pool = global_avg_pool(relu3)
flat = flatten(pool)
fc = linear(flat, out=K)
output logits = fc
)";

class EmulatedRanks : public Launch {
 protected:
  static constexpr int kImages = 96;

  /// Arguments of a run of five updates of 12 images, with several gradient buckets.
  std::vector<std::string> plain_words(const std::string& run, int ranks, int batch, int accumulate,
                                       const std::vector<std::string>& more = {}) {
    if (data_.empty()) data_ = place_.synth("data", kImages);
    std::vector<std::string> words = place_.train_arguments(data_, run);
    words.back() = place_.write("plain.txt", kPlainNet).string();
    words = plus(
        words, {"--device", "cuda", "--set", "train.dtype=f32", "--set", "train.epochs=1", "--set",
                "optimizer.name=sgd", "--set", "train.bucket_mb=0.01", "--set", "train.batch=" + std::to_string(batch),
                "--set", "train.accumulate=" + std::to_string(accumulate), "--verbose"});
    if (ranks > 0) {
      words = plus(words, {"--ranks", std::to_string(ranks), "--oversubscribe", "--comm-timeout", "60"});
    }
    return plus(words, more);
  }
  Ended train_plain(const std::string& run, int ranks, int batch, int accumulate,
                    const std::vector<std::string>& more = {}) {
    return run_it(plain_words(run, ranks, batch, accumulate, more));
  }
  Ended must_train_plain(const std::string& run, int ranks, int batch, int accumulate,
                         const std::vector<std::string>& more = {}) {
    Ended ended = train_plain(run, ranks, batch, accumulate, more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended;
  }
  Ended run_it(const std::vector<std::string>& words) {
    return Process(words, place_.root(), {}, RG_HELD_PROGRAM).wait();
  }
  /// One GPU for each of up to four ranks.
  EmulatedCards cards_{4};

  fs::path resume_file(const std::string& run) { return place_ / run / "checkpoints/resume.safetensors"; }

  /// Values of a key for all updates in the log of a run.
  std::vector<double> logged(const std::string& run, std::string_view key) {
    std::vector<double> values;
    std::istringstream lines(read_all(place_ / run / "log.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const Value entry = io::parse_json(line, "log").or_throw();
      if (const Value* value = entry.find(key)) values.push_back(value->as_double());
    }
    return values;
  }

  /// L2 distance between the weights of two runs, divided by their norm.
  double distance(const std::string& left, const std::string& right) {
    const auto a = io::SafetensorsReader::open(resume_file(left)).or_throw();
    const auto b = io::SafetensorsReader::open(resume_file(right)).or_throw();
    double squares = 0.0, differences = 0.0;
    for (const io::TensorInfo& each : a.tensors()) {
      if (each.dtype != DType::F32) continue;
      const auto* const x = reinterpret_cast<const float*>(a.bytes(each).data());
      const auto* const y = reinterpret_cast<const float*>(b.bytes(*b.find(each.name)).data());
      for (std::size_t i = 0; i < a.bytes(each).size() / sizeof(float); ++i) {
        squares += std::pow(static_cast<double>(x[i]), 2);
        differences += std::pow(static_cast<double>(x[i]) - static_cast<double>(y[i]), 2);
      }
    }
    return std::sqrt(differences / squares);
  }
};

}  // namespace roentgen::e2e
