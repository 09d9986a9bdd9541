// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One form for a patient's id, however tables spell it. Programs that read a column of numbers with gaps write "12.0"
// for "12" and "nan" for nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roentgen::data {

struct Listing;

/// Normal form of a patient's id: without blanks around it, and of a number without a decimal part of zeros ("12" of
/// "12.0"). Empty for words that name nobody: nan, na, n/a, <na>, none, null and unknown in any case.
[[nodiscard]] std::string normal_patient(std::string_view text);

/// Other spellings under which a table may hold the patient of that normal form: "12.0" of "12".
[[nodiscard]] std::vector<std::string> same_patient_spellings(const std::string& patient);

/// Numbers that differ from a patient's in leading zeros alone, of up to 12 digits: "12", "0012", ... of "012". They
/// may or may not be the same person. Empty for ids that are no number.
[[nodiscard]] std::vector<std::string> leading_zero_spellings(const std::string& patient);

/// Gives all samples the normal form of their patient, keeps other spellings in Sample::written_patient, and notes how
/// many ids were read otherwise than they are written, and how many differ in leading zeros alone.
void settle_patients(Listing& listing);

}  // namespace roentgen::data
