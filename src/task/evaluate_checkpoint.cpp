// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/evaluate_checkpoint.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "data/stage/image_cache.h"
#include "data/stage/sample_hashes.h"
#include "data/transform/test_views.h"
#include "score/image_part.h"
#include "train/checkpoint_info.h"
#include "train/load_checkpoint.h"
#include "train/predict.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/same_images.h"

namespace roentgen::task {
namespace {

// Size of the cache of decoded images, which all test-time views share.
constexpr std::size_t kCacheBytes = std::size_t{1} << 30;

bool is_training(const score::Part& part) { return part.name == data::name_of(data::Split::Train); }

}  // namespace

data::SourceOptions source_of_checkpoint(const train::CheckpointInfo& info, std::string_view what,
                                         const std::vector<std::string>& folders,
                                         std::span<const std::string> overrides) {
  data::SourceOptions source = train::parse_recipe(info.recipe, what, overrides).data;
  source.labels = info.labels;
  if (source.sources.empty() && source.patient_namespace.empty()) source.patient_namespace = info.patient_namespace;
  data::set_split_rule(source, info.split_rule);
  data::place_folders(source, folders);
  return source;
}

std::string settle_leak(const std::string& leak, const std::string& clean, eval::OnOverlap on_overlap) {
  if (leak.empty()) return clean + "\n";
  if (on_overlap == eval::OnOverlap::Refuse) throw DataError(leak);
  log::warning(leak);
  return {};
}

std::string check_patients(const train::CheckpointInfo& info, const data::Dataset& dataset, const score::Part& part,
                           eval::OnOverlap on_overlap) {
  if (is_training(part)) {
    log::warning("evaluating training images: these metrics show memorisation, not performance on new images");
    return {};
  }
  const auto unknown = std::ranges::count_if(
      part.samples, [&dataset](std::uint32_t index) { return dataset.samples[index].patient.empty(); });
  const auto spellings = data::patient_spellings(dataset, part.samples, info.patient_salt);
  std::vector<eval::TestPatient> patients;
  for (const data::PatientSpellings& one : spellings) patients.push_back({.same = one.same, .zeros = one.zeros});
  const eval::PatientOverlap overlap = eval::patient_overlap(info.training_patients, patients);
  if (overlap.similar > 0) log::warning(eval::similar_patients_text(overlap));
  return settle_leak(eval::leak_text(overlap), eval::clean_check_text(overlap, unknown), on_overlap);
}

std::string check_pixels(const train::CheckpointInfo& info, const score::Part& part, const data::PixelHashes& hashes,
                         eval::OnOverlap on_overlap) {
  if (is_training(part)) return {};
  const auto overlap = eval::pixel_overlap(info.training_pixels, data::hash_texts(hashes, part.samples));
  return settle_leak(eval::pixel_leak_text(overlap), eval::clean_pixels_text(overlap), on_overlap);
}

score::EvalSet predict_part(const train::Ranks& ranks, train::LoadedModel& model, const data::Dataset& dataset,
                            const score::Part& part, data::PixelHashes& hashes, const PartOptions& own) {
  train::PredictOptions options{.preprocess = model.preprocess, .loss = model.info.loss};
  options.workers = train::decode_workers(train::sharing_cores({.workers = own.workers}));
  options.views = data::test_views(own.views, model.preprocess);
  // Decodes each image only once for all views, as far as the cache has space.
  data::ImageCache cache(std::ssize(dataset.samples), options.views.size() > 1 ? kCacheBytes : 0);
  options.cache = &cache;
  options.pixel_hashes = &hashes;
  const std::int64_t total = std::ssize(part.samples) * std::ssize(options.views);
  if (own.on_progress) options.on_progress = [&](std::int64_t done) { own.on_progress(done, total); };
  train::PredictResult result = train::predict(ranks, *model.executable, dataset, part.samples, options);
  train::unite_hashes(ranks, part.samples, hashes);
  if (model.info.loss == "softmax") result.predictions.outputs = eval::Outputs::Exclusive;
  score::EvalSet set = score::with_facts(std::move(result.predictions), dataset, part.samples);
  set.list_sha256 = part.list_sha256;
  return set;
}

}  // namespace roentgen::task
