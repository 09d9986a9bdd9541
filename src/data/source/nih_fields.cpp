// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/nih_fields.h"

#include <algorithm>

#include "data/source/finding_text.h"
#include "data/source/findings.h"
#include "data/source/source.h"

namespace roentgen::data {

std::string canonical_finding(std::string_view text) {
  std::string name(stripped(text));
  if (name == kNoFinding) return name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name == "Infiltrate" ? "Infiltration" : name;
}

std::string canonical_patient(std::string_view text) {
  text = text.substr(0, text.find('_'));
  const auto first = text.find_first_not_of('0');
  if (first == std::string_view::npos) return text.empty() ? std::string() : "0";
  return std::string(text.substr(first));
}

std::vector<std::string> split_findings(std::string_view text) {
  std::vector<std::string> findings = split_names(text);
  for (std::string& finding : findings) finding = canonical_finding(finding);
  return findings;
}

}  // namespace roentgen::data
