// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/conformance/conformance.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <variant>

#include "engine/conformance/bounds.h"
#include "engine/reference/reference_run.h"

namespace roentgen::engine::conformance {
namespace {
using Values = std::map<std::string, std::vector<float>>;

/// Distance from a kink, relative to the root mean square, below which a float value may lie on the other side of the
/// kink. It is 200 times the rounding of one value, which leaves room for errors from upstream.
constexpr double kKinkMargin = 200 * 0x1p-24;
/// Number of tries to find values away from kinks. A try fails with probability of about 1e-5 * number of values with a
/// kink.
constexpr std::uint64_t kTries = 50;

double norm_of(std::span<const double> values) {
  double squares = 0.0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

/// Returns |got - expected| / scale; infinite if a value is NaN or sizes differ. Zero over zero is zero.
double relative_error(std::span<const float> got, std::span<const double> expected, double scale) {
  if (got.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double squares = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double difference = static_cast<double>(got[i]) - expected[i];
    squares += difference * difference;
  }
  if (!std::isfinite(squares)) return std::numeric_limits<double>::infinity();
  return squares == 0.0 ? 0.0 : std::sqrt(squares) / scale;
}

double relative_error(std::span<const float> got, std::span<const double> expected) {
  return relative_error(got, expected, norm_of(expected));
}

/// Gray value that `scale` converts to `value`, limited to the range of `dtype` and not yet rounded to an integer.
double pixel_of(double value, const PixelScale& scale, DType dtype) {
  return std::clamp((value - scale.shift) / scale.scale, 0.0, dtype == DType::U8 ? 255.0 : 65535.0);
}

/// Calls visit(value, scale) for every value (N, C, H, W) of an input that is given as pixels.
template <typename Numbers, typename Visit>
void for_pixels(Numbers& values, const InputSpec& spec, const InputNorm& norm, const Visit& visit) {
  const std::vector<PixelScale> scales = pixel_scales(norm);
  const auto area = static_cast<std::size_t>(spec.shape[2] * spec.shape[3]);
  for (std::size_t i = 0; i < values.size(); ++i) visit(values[i], scales[i / area % scales.size()]);
}

/// Replaces the values of inputs given as pixels by the values of the nearest pixels.
void round_to_pixels(Values& values, const Executable& executable, const std::optional<InputNorm>& norm) {
  for (const InputSpec& spec : executable.inputs()) {
    if (spec.dtype == DType::F32) continue;
    for_pixels(values.at(spec.name), spec, *norm, [&](float& value, const PixelScale& scale) {
      const double pixel = std::round(pixel_of(static_cast<double>(value), scale, spec.dtype));
      value = static_cast<float>(pixel * scale.scale + scale.shift);
    });
  }
}

/// Writes each input into the slot, as values or as the nearest pixels, depending on the type of the slot.
void fill_slot(Executable& executable, int slot, const Values& values, const std::optional<InputNorm>& norm) {
  for (std::size_t i = 0; i < executable.inputs().size(); ++i) {
    const InputSpec& spec = executable.inputs()[i];
    const std::vector<float>& input = values.at(spec.name);
    std::byte* to = executable.slot(static_cast<std::int64_t>(i), slot).data();
    RG_ASSERT(spec.bytes == input.size() * size_of(spec.dtype));
    if (spec.dtype == DType::F32) {
      std::memcpy(to, input.data(), spec.bytes);
      continue;
    }
    for_pixels(input, spec, *norm, [&](float value, const PixelScale& scale) {
      const auto pixel =
          static_cast<std::uint16_t>(std::lround(pixel_of(static_cast<double>(value), scale, spec.dtype)));
      std::memcpy(to, &pixel, size_of(spec.dtype));  // the pixel's low byte is first in memory
      to += size_of(spec.dtype);
    });
  }
}

void load_parameters(Executable& executable, const graph::Graph& graph, const Values& values) {
  for (std::size_t i = 0; i < graph.parameters().size(); ++i) {
    executable.load(static_cast<std::int32_t>(i), values.at(graph.parameters()[i].name));
  }
}

/// Reads the mask of every dropout node, and runs the reference with these masks. Each dropout node must be a named
/// output of the graph. The share that it keeps must be within five standard deviations of 1 - p.
void read_masks(const Executable& executable, const graph::Graph& graph, reference::ReferenceRun& run, Report& report) {
  for (const graph::Node& node : graph.nodes()) {
    const auto* dropout = std::get_if<graph::Dropout>(&node.op);
    if (dropout == nullptr || dropout->probability == 0.0) continue;
    const std::span<const float> kept = executable.read(node.name);
    std::vector<double> mask;
    for (const float value : kept) mask.push_back(value != 0.0F ? 1.0 : 0.0);
    const auto count = static_cast<double>(mask.size());
    const double share = std::accumulate(mask.begin(), mask.end(), 0.0) / count;
    const double sd = std::sqrt(dropout->probability * (1.0 - dropout->probability) / count);
    report.findings.push_back(
        {"deviations of the share kept by " + node.name, std::fabs(share - (1.0 - dropout->probability)) / sd, 5.0});
    run.set_mask(node.name, std::move(mask));
  }
  run.forward();
}

/// Runs a step on other values first, to show that they do not affect the compared step, which runs next.
void step(Executable& executable, const Case& tested, const CompileOptions& compile, const Values& values,
          Report& report) {
  const Form form = compile.form;
  Values other = draw_values(tested, 999);
  for (const char* name : {"labels", "mask"}) other[name] = values.at(name);
  fill_slot(executable, 0, other, compile.input_norm);
  fill_slot(executable, 1, values, compile.input_norm);
  std::vector<std::int64_t> order;
  const BucketCallback note_bucket = [&](std::int64_t index, const runtime::Event&) { order.push_back(index); };
  for (const int slot : {0, 1}) {
    load_parameters(executable, tested.graph, slot == 0 ? other : values);
    executable.bind_slot(slot);
    executable.set_step(slot);
    order.clear();
    executable.forward();
    if (form == Form::Training) executable.backward(note_bucket);
  }
  if (form == Form::Inference) return;
  bool is_in_order = order.size() == executable.buckets().size();
  for (std::size_t i = 0; i < order.size(); ++i) is_in_order = is_in_order && order[i] == static_cast<std::int64_t>(i);
  report.findings.push_back({"every bucket once and in order", is_in_order ? 0.0 : 1.0, 0.0});
}

/// True if slices do not overlap, buckets are adjacent and cover the arena, and no slice crosses a bucket's end.
bool is_well_laid_out(const Executable& executable, std::int64_t arena_elements) {
  std::vector<ParameterSlice> slices = executable.slices();
  std::ranges::sort(slices, {}, &ParameterSlice::begin);
  std::int64_t end = 0;
  for (const ParameterSlice& slice : slices) {
    if (slice.begin < end || slice.count < 1) return false;
    end = slice.begin + slice.count;
  }
  if (end > arena_elements) return false;
  std::int64_t bucket_end = 0;
  for (const Bucket& bucket : executable.buckets()) {
    if (bucket.begin != bucket_end || bucket.count < 1) return false;
    bucket_end += bucket.count;
    for (const ParameterSlice& slice : slices) {
      if (slice.begin < bucket_end && slice.begin + slice.count > bucket_end) return false;
    }
  }
  return bucket_end == arena_elements;
}

/// Checks that a gradient arena has the parameters' gradients with zeros in between, and that conversion to plain order
/// and back keeps the values.
void check_arena(Executable& executable, const Arena& arena, Report& report) {
  const std::unique_ptr<Arena> rebuilt = executable.make_arena(ArenaKind::Trained);
  for (const ParameterSlice& slice : executable.slices()) {
    executable.load(slice.parameter, executable.store(slice.parameter, arena), *rebuilt);
  }
  const bool is_equal = arena.values() == rebuilt->values();
  report.findings.push_back({"gradient arena without its padding", is_equal ? 0.0 : 1.0, 0.0});
  const bool is_laid_out = is_well_laid_out(executable, arena.elements());
  report.findings.push_back({"slices and buckets fit the arena", is_laid_out ? 0.0 : 1.0, 0.0});
}

struct Tolerance {
  double bound = 0.0;
  double gradient_floor = 0.0;
};

void compare_gradients(Executable& executable, const Case& tested, const reference::ReferenceRun& expected,
                       const Tolerance& tolerance, Report& report) {
  double largest = 0.0;
  const std::vector<graph::Parameter>& parameters = tested.graph.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    largest = std::max(largest, norm_of(expected.parameter_gradient(static_cast<std::int32_t>(i)).data));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!graph::is_trained(parameters[i].role)) continue;
    const auto id = static_cast<std::int32_t>(i);
    const std::vector<double>& gradient = expected.parameter_gradient(id).data;
    const bool is_zero = std::ranges::count(tested.zero_gradients, parameters[i].name) > 0;
    const double scale = is_zero ? largest : std::max(norm_of(gradient), tolerance.gradient_floor * largest);
    report.findings.push_back({"gradient " + parameters[i].name,
                               relative_error(executable.store_gradient(id), gradient, scale), tolerance.bound});
  }
  check_arena(executable, executable.gradients(), report);
}

void compare(Executable& executable, const Case& tested, const reference::ReferenceRun& expected, double bound,
             Report& report) {
  for (const auto& [name, id] : tested.graph.outputs()) {
    report.findings.push_back(
        {"output " + name, relative_error(executable.read(name), expected.value(id).data), bound});
  }
  for (std::size_t i = 0; i < tested.graph.parameters().size(); ++i) {
    const graph::Parameter& parameter = tested.graph.parameters()[i];
    const auto id = static_cast<std::int32_t>(i);
    const double allowed = graph::is_trained(parameter.role) ? 0.0 : bound;
    report.findings.push_back(
        {"state " + parameter.name, relative_error(executable.store(id), expected.state(id).data), allowed});
  }
}

/// Checks that repeating the step gives the same bits.
void compare_repetition(Executable& executable, const Case& tested, Form form, const Values& values, Report& report) {
  const auto results = [&] {
    std::vector<float> bits;
    for (const auto& [name, id] : tested.graph.outputs()) {
      const std::span<const float> output = executable.read(name);
      bits.insert(bits.end(), output.begin(), output.end());
    }
    const std::vector<float> gradients = executable.gradients().values();
    bits.insert(bits.end(), gradients.begin(), gradients.end());
    return bits;
  };
  const std::vector<float> first = results();
  load_parameters(executable, tested.graph, values);
  executable.forward();
  if (form == Form::Training) executable.backward({});
  report.findings.push_back({"same bits when repeated", results() == first ? 0.0 : 1.0, 0.0});
}
}  // namespace

bool Report::passed() const {
  return std::ranges::none_of(findings, [](const Finding& finding) { return finding.is_bad(); });
}

double Report::worst_ratio() const {
  double worst = 0.0;
  for (const Finding& finding : findings) {
    if (finding.bound > 0.0) worst = std::max(worst, finding.error / finding.bound);
  }
  return worst;
}

std::string Report::failures() const {
  std::string text;
  for (const Finding& finding : findings) {
    if (!finding.is_bad()) continue;
    char numbers[80];
    std::snprintf(numbers, sizeof(numbers), ": error %.3g, bound %.3g\n", finding.error, finding.bound);
    text += finding.what + numbers;
  }
  return text;
}

Report run_case(Engine& engine, const Case& tested, const RunOptions& options) {
  const Form form = options.compile.form;
  const std::unique_ptr<Executable> executable = engine.compile(tested.graph, options.compile);
  const double bound = options.bound_scale * error_bound(tested.graph);
  for (std::uint64_t seed = 0; seed < kTries; ++seed) {
    Report report;
    Values values = draw_values(tested, seed);
    round_to_pixels(values, *executable, options.compile.input_norm);
    step(*executable, tested, options.compile, values, report);
    reference::ReferenceRun expected = run_reference(tested, form, values);
    if (form == Form::Training) read_masks(*executable, tested.graph, expected, report);
    if (expected.kink_margin() < kKinkMargin) continue;
    compare(*executable, tested, expected, bound, report);
    if (form == Form::Training) {
      expected.backward("loss");
      compare_gradients(*executable, tested, expected, {bound, options.gradient_floor}, report);
    }
    compare_repetition(*executable, tested, form, values, report);
    return report;
  }
  throw Error(error_text("engine.conformance", tested.name, "random inputs far from the kinks of ReLU and pooling",
                         "none in 50 draws", "smaller tensors"));
}

}  // namespace roentgen::engine::conformance
