// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads files that PyTorch wrote (tools/peers/torch_files_golden.py), and damaged copies of them.
#include "io/torch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "io/file.h"
#include "io/io_testing.h"

namespace roentgen::io {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::filesystem::path golden(const std::string& name) {
  const char* source = std::getenv("ROENTGEN_SOURCE_DIR");
  return std::filesystem::path(source == nullptr ? "." : source) / "tests" / "golden" / "torch" / name;
}

const TorchTensor* find(const TorchFile& file, std::string_view name) {
  for (const TorchTensor& tensor : file.tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

std::string error_of(const std::filesystem::path& path) {
  const auto file = read_torch_file(path);
  return file.ok() ? "no error" : file.error();
}

// Values 0, 0.25, ..., which tools/peers/torch_files_golden.py wrote.
std::vector<float> quarters(std::initializer_list<int> counts) {
  std::vector<float> values;
  for (const int count : counts) values.push_back(static_cast<float>(count) / 4.0F);
  return values;
}

void expect_state(const TorchFile& file) {
  EXPECT_EQ(file.class_name, "");
  ASSERT_EQ(file.tensors.size(), 11U) << "the counter and the mask are left out";
  const auto expect = [&](std::string_view name, const Shape& shape, const std::vector<float>& values) {
    const TorchTensor* tensor = find(file, name);
    ASSERT_NE(tensor, nullptr) << name;
    EXPECT_EQ(tensor->shape, shape) << name;
    EXPECT_EQ(tensor->values, values) << name;
  };
  expect("f32", {2, 3}, quarters({0, 1, 2, 3, 4, 5}));
  expect("f64", {3}, quarters({0, 1, 2}));
  expect("f16", {2, 2}, quarters({0, 1, 2, 3}));
  expect("bf16", {3}, quarters({0, 1, 2}));
  expect("transposed", {5, 4}, quarters({0, 5, 10, 15, 1, 6, 11, 16, 2, 7, 12, 17, 3, 8, 13, 18, 4, 9, 14, 19}));
  expect("rows", {2, 5}, quarters({5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
  expect("columns", {4, 2}, quarters({2, 3, 7, 8, 12, 13, 17, 18}));
  expect("repeated", {3, 2}, quarters({0, 1, 0, 1, 0, 1}));
  expect("scalar", {}, {2.5F});
  expect("nothing", {0, 3}, {});
  expect("parameter", {2}, quarters({0, 1}));
}

TEST(TorchFile, reads_a_state_dict_of_both_containers_whatever_its_strides) {
  for (const std::string name : {"state.pt", "state_legacy.pt", "training.pt", "training_legacy.pt"}) {
    SCOPED_TRACE(name);
    expect_state(read_torch_file(golden(name)).or_throw());
  }
}

TEST(TorchFile, walks_a_whole_model_without_its_class) {
  for (const std::string name : {"whole.pt", "whole_legacy.pt"}) {
    SCOPED_TRACE(name);
    const TorchFile file = read_torch_file(golden(name)).or_throw();
    EXPECT_EQ(file.class_name, "torchxrayvision.models.Net");
    EXPECT_THAT(file.lists.at("pathologies"), ElementsAre("Mass", "Hernia"));
    std::vector<std::string> names;
    for (const TorchTensor& tensor : file.tensors) names.push_back(tensor.name);
    EXPECT_THAT(names, ElementsAre("op_threshs", "features.conv0.weight", "features.norm0.weight",
                                   "features.norm0.bias", "features.norm0.running_mean", "features.norm0.running_var",
                                   "classifier.weight", "classifier.bias"));
    EXPECT_EQ(find(file, "classifier.weight")->values, quarters({0, 1, 2, 3}));
    EXPECT_TRUE(std::isnan(find(file, "op_threshs")->values[1]));
  }
}

TEST(TorchFile, refuses_calls_by_name_and_runs_none) {
  for (const std::string name : {"evil.pt", "evil_legacy.pt"}) {
    EXPECT_THAT(error_of(golden(name)), AllOf(HasSubstr("expected only tensors, got a call of posix.system"),
                                              HasSubstr("torch.save(model.state_dict(), FILE)")));
  }
}

TEST(TorchFile, names_what_is_no_dense_tensor_of_floats) {
  EXPECT_THAT(error_of(golden("sparse.pt")), HasSubstr("got a call of torch.serialization._get_layout"));
  EXPECT_THAT(error_of(golden("complex.pt")), HasSubstr("expected f32, f64, f16, bf16 or integers, got torch.Complex"));
  EXPECT_THAT(error_of(golden("complex_legacy.pt")), HasSubstr("got torch.ComplexFloatStorage"));
  EXPECT_THAT(error_of(golden("number.pt")), HasSubstr("number.pt, \"epoch\": expected only tensors, got a number"));
  EXPECT_THAT(error_of(golden("script.pt")), HasSubstr("got a TorchScript program"));
}

TEST(TorchFile, is_told_by_its_first_bytes) {
  const auto is_torch = [](const std::string& text) { return is_torch_file(std::as_bytes(std::span(text))); };
  EXPECT_TRUE(is_torch("PK\x03\x04\0\0\x08\x08state/data.pkl"s));
  EXPECT_TRUE(is_torch("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."s));
  EXPECT_FALSE(is_torch("\x80\x02\0\0\0\0\0\0{}"s)) << "a safetensors header of 640 bytes";
  EXPECT_FALSE(is_torch("PK\x03\x04\0\0\x08\x08x.npy"s));
  EXPECT_FALSE(is_torch("\x40\0\0\0\0\0\0\0{}"s));
  EXPECT_FALSE(is_torch(""));
}

class DamagedTorchFile : public ::testing::TestWithParam<std::string> {
 protected:
  static std::string error_of_bytes(const std::string& bytes) {
    const auto file = parse_torch_file(std::as_bytes(std::span(bytes)), "x.pt");
    return file.ok() ? "no error" : file.error();
  }
  // Error for the file after the first `from` in it is replaced by `to`.
  [[nodiscard]] std::string error_with(std::string_view from, const std::string& to) const {
    std::string bytes = whole_;
    const std::size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos);
    return error_of_bytes(bytes.replace(at, from.size(), to));
  }
  const std::string whole_ = read_text(golden(GetParam())).or_throw();
};

TEST_P(DamagedTorchFile, is_refused_wherever_it_is_cut) {
  for (std::size_t size = 0; size < whole_.size(); ++size) {
    ASSERT_NE(error_of_bytes(whole_.substr(0, size)), "no error") << size << " bytes";
  }
}

// The zip archive has a CRC-32 of everything that is read.
TEST_P(DamagedTorchFile, never_crashes) {
  Random random(20261122, RandomStage::Test);
  for (int i = 0; i < 2000; ++i) static_cast<void>(error_of_bytes(testing::damaged(whole_, random)));
}

INSTANTIATE_TEST_SUITE_P(Containers, DamagedTorchFile, ::testing::Values("state.pt", "state_legacy.pt"),
                         [](const auto& test) { return test.param == "state.pt" ? "Zip" : "Legacy"; });

using LegacyTorchFile = DamagedTorchFile;
INSTANTIATE_TEST_SUITE_P(One, LegacyTorchFile, ::testing::Values("state_legacy.pt"));
using ZipTorchFile = DamagedTorchFile;
INSTANTIATE_TEST_SUITE_P(One, ZipTorchFile, ::testing::Values("state.pt"));

TEST_P(ZipTorchFile, whose_data_changed_is_told_by_their_crc) {
  const std::string one_and_quarter("\0\0\xa0\x3f", 4);
  EXPECT_THAT(error_with(one_and_quarter, std::string("\0\0\xa1\x3f", 4)), HasSubstr("expected CRC-32"));
}

// Sizes (2, 3) and strides (3, 1) of the first tensor are stored as BININT1; the test replaces them by BININT.
TEST_P(LegacyTorchFile, with_absurd_sizes_is_refused_before_they_are_allocated) {
  const std::string sizes = "K\x02K\x03\x86", most = "J\xff\xff\xff\x7f";
  EXPECT_THAT(error_with(sizes, most + most + "\x86"), HasSubstr("expected a tensor inside its storage of 6 elements"));
  EXPECT_THAT(error_with(sizes, "J\xff\xff\xff\xff" + most + "\x86"), HasSubstr("inside its storage"));
  const std::string strides = "K\x03K\x01\x86";
  std::string bytes = whole_;
  bytes.replace(bytes.find(sizes), sizes.size(), most + "K\x03\x86");
  bytes.replace(bytes.find(strides), strides.size(), std::string("K\0K\x01\x86", 5));
  EXPECT_THAT(error_of_bytes(bytes), HasSubstr("got tensors that use the same data many times"));
}

TEST_P(LegacyTorchFile, whose_storage_is_said_to_be_longer_is_refused) {
  const std::string data = std::string("\x06\0\0\0\0\0\0\0", 8) + std::string("\0\0\0\0\0\0\x80\x3e", 8);
  std::string longer = data;
  longer[7] = '\x7f';
  EXPECT_THAT(error_with(data, longer), HasSubstr("expected all elements of the storage, got fewer"));
  longer = data;
  longer[0] = '\x05';
  EXPECT_NE(error_with(data, longer), "no error");
}

}  // namespace
}  // namespace roentgen::io
