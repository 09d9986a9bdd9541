// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Published speeds of training, to show beside measured ones. They were measured with other programs and mostly other
// data, on the hardware that each row names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/ledger/record.h"
#include "core/value.h"

namespace roentgen::bench {

/// One published training speed.
struct PublishedSpeed {
  std::string_view model;     ///< name as in models/model_list.h
  std::string_view hardware;  ///< device, such as "V100-16GB"
  std::int64_t devices = 1;   ///< number of devices, or of nodes for CPUs
  std::string_view dtype;     ///< number format of products: f32, tf32, amp, bf16
  double images_per_s = 0.0;  ///< over all devices
  std::string_view software;  ///< program that was measured
  std::string_view source;    ///< publication
  std::string_view note;      ///< what else differs; empty: 224 x 224 pixels and nothing else
};

/// Returns all published speeds.
[[nodiscard]] std::span<const PublishedSpeed> published_speeds();

/// Efficiency of a row: its speed divided by the number of devices times the speed of one device. The row of one device
/// has the same model, hardware, dtype and software. 0 if no row has one device.
[[nodiscard]] double published_efficiency(const PublishedSpeed& row);

/// Training speed of a record, or of one row of a record.
struct OwnSpeed {
  std::string model{};
  std::int64_t devices = 1;   ///< number of devices, or of ranks
  double images_per_s = 0.0;  ///< over all devices
  double efficiency = 0.0;    ///< as the record has it; 0 if it has none
  std::string hardware{};     ///< name of the CPU, or of the device such as "cuda:0"
  std::string command{};      ///< command line that measured it
  std::int64_t image_px = 0;  ///< side of the images; 0 if unknown
  std::string conditions{};   ///< image size, batch size and number format, such as "224 px, batch 64, f32"
  std::string settings{};     ///< case and settings, without those that differ between numbers of devices
};
/// Returns all training speeds of the records, without predicted ones, those of emulated devices, and those of ranks
/// that share cores.
[[nodiscard]] std::vector<OwnSpeed> training_speeds(const std::vector<StoredRecord>& records);

/// Least side of images in px whose speed is comparable with published speeds.
inline constexpr std::int64_t kPublishedImagePx = 224;

/// Lists all published speeds beside the training speeds of the records. Returns an array of {model, hardware, devices,
/// dtype, published, efficiency, ours, ratio, our_hardware, our_conditions, note, software, source, command}. `ours` is
/// the fastest record of the model with as many devices, in images per second over all devices, or null. Records with
/// images below kPublishedImagePx are left out.
[[nodiscard]] Value beside_published(const std::vector<StoredRecord>& records);

}  // namespace roentgen::bench
