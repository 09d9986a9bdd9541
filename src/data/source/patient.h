// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Normal form of patient ids, which tables spell differently. Programs that read a column of numbers with gaps write
// "12.0" for "12" and "nan" for blanks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::data {

struct Listing;

/// Index of the patient id column: the first existing one of patient, patient id, subject id and subject. Case, blanks,
/// `_` and `-` are ignored.
[[nodiscard]] std::optional<std::size_t> patient_column(const std::vector<std::string>& header);

/// Notes on columns of table `what` that look like patient ids but are not among the columns in `read`.
/// @param source text that says where patient ids are read from instead
[[nodiscard]] std::vector<std::string> notes_on_unread_patients(const std::vector<std::string>& header,
                                                                const std::vector<std::optional<std::size_t>>& read,
                                                                std::string_view what, std::string_view source);

/// True for names of columns and fields ("mrn", "patient_id", "meta.subject") that look like patient ids.
[[nodiscard]] bool looks_like_patient(std::string_view name);

/// Normal form of a patient id: without blanks around it; for a number also without a decimal part of zeros ("12" for
/// "12.0"). Empty for words that mean no patient: nan, na, n/a, `<na>`, none, null and unknown, ignoring case.
[[nodiscard]] std::string normal_patient(std::string_view text);

/// Other spellings of the same patient that a table may contain, such as "12.0" for "12". `patient` is in normal form.
[[nodiscard]] std::vector<std::string> same_patient_spellings(const std::string& patient);

/// Numbers that differ from a patient id only in leading zeros, up to the 64 digits of a DICOM Patient ID: "12",
/// "0012", ... for "012". For up to 12 digits also with ".0" appended. They may or may not mean the same person. Empty
/// if the id is no number.
[[nodiscard]] std::vector<std::string> leading_zero_spellings(const std::string& patient);

/// Converts the patient ids of all samples to normal form and keeps other spellings in Sample::written_patient. Adds
/// notes on the number of converted ids, of unknown ids (unless all are blank), and of ids that differ only in leading
/// zeros. Throws DataError if several ids are numbers that a spreadsheet rounded, such as "1.23E+12".
void settle_patients(Listing& listing);

/// Makes Sample::study unique across patients, as "patient/study", if the tables have a study column. Otherwise uses
/// the study's folder in the image's name ("patient1/study2" in CheXpert, "p10/p100/s500" in MIMIC). Empty if no folder
/// is called study... or s<number>. Call settle_patients() first.
void settle_studies(Listing& listing);

}  // namespace roentgen::data
