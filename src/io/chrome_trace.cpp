// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/chrome_trace.h"

#include <fmt/format.h>

#include "io/file.h"
#include "io/json.h"

namespace roentgen::io {
namespace {

// Converts to microseconds, the format's unit; three decimals keep nanoseconds.
std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

std::string quoted(const std::string& text) { return to_json(Value(text), -1); }

void append_names(std::string& text, const TraceName& entry) {
  const bool is_process = entry.thread < 0;
  const char* kind = is_process ? "process" : "thread";
  const std::string place = fmt::format(R"("pid":{},"tid":{})", entry.process, is_process ? 0 : entry.thread);
  text += fmt::format(R"({{"ph":"M","name":"{}_name",{},"args":{{"name":{}}}}},)", kind, place, quoted(entry.name));
  text += '\n';
  text += fmt::format(R"({{"ph":"M","name":"{0}_sort_index",{1},"args":{{"sort_index":{2}}}}},)", kind, place,
                      is_process ? entry.process : entry.thread);
  text += '\n';
}

void append_event(std::string& text, const TraceEvent& event) {
  text += fmt::format(R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{},"dur":{})", quoted(event.name),
                      quoted(event.category), event.process, event.thread, microseconds(event.begin_ns),
                      microseconds(event.end_ns - event.begin_ns));
  if (!event.arguments.is_null()) text += R"(,"args":)" + to_json(event.arguments, -1);
  text += "},\n";
}

}  // namespace

void write_chrome_trace(const std::filesystem::path& path, const std::vector<TraceName>& names,
                        const std::vector<TraceEvent>& events, const Value& about) {
  std::string text = R"({"displayTimeUnit":"ms","otherData":)" + to_json(about, -1) + R"(,"traceEvents":[)" + "\n";
  for (const TraceName& entry : names) append_names(text, entry);
  for (const TraceEvent& event : events) append_event(text, event);
  if (text.ends_with(",\n")) text.resize(text.size() - 2);  // JSON allows no comma after the last item
  text += "\n]}\n";
  write_file_atomically(path, text);
}

}  // namespace roentgen::io
