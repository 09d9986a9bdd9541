// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One form for a patient's id, however tables spell it. Programs that read a column of numbers with gaps write "12.0"
// for "12" and "nan" for nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::data {

struct Listing;

/// Position of the column of patients' ids: patient, patient id, subject id or subject, without regard to case, blanks,
/// `_` and `-`. The first of these names counts.
[[nodiscard]] std::optional<std::size_t> patient_column(const std::vector<std::string>& header);

/// Notes for columns of the table `what` that look like one of patients' ids and are not among `read`.
/// @param source text that says where the patient is read from instead
[[nodiscard]] std::vector<std::string> notes_on_unread_patients(const std::vector<std::string>& header,
                                                                const std::vector<std::optional<std::size_t>>& read,
                                                                std::string_view what, std::string_view source);

/// True for names of columns and fields ("mrn", "patient_id", "meta.subject") that look like one of patients' ids.
[[nodiscard]] bool looks_like_patient(std::string_view name);

/// Normal form of a patient's id: without blanks around it, and of a number without a decimal part of zeros ("12" of
/// "12.0"). Empty for words that name nobody: nan, na, n/a, `<na>`, none, null and unknown in any case.
[[nodiscard]] std::string normal_patient(std::string_view text);

/// Other spellings under which a table may hold the patient of that normal form: "12.0" of "12".
[[nodiscard]] std::vector<std::string> same_patient_spellings(const std::string& patient);

/// Numbers that differ from a patient's in leading zeros alone: "12", "0012", ... of "012", to the 64 digits of a DICOM
/// file's PatientID; those of up to 12 digits with ".0" behind them too. They may or may not be the same person. Empty
/// for ids that are no number.
[[nodiscard]] std::vector<std::string> leading_zero_spellings(const std::string& patient);

/// Normalises the patient of all samples and keeps other spellings in Sample::written_patient. Notes the number of ids
/// that were rewritten, of unknown ids (unless all are blank), and of ids that differ only in leading zeros.
void settle_patients(Listing& listing);

/// Makes Sample::study distinct among patients: "patient/study" where the tables have a column of studies. Otherwise
/// uses the study's folder in the image's name ("patient1/study2" of CheXpert, "p10/p100/s500" of MIMIC). Empty when no
/// folder is called study... or s<number>. Call settle_patients() first.
void settle_studies(Listing& listing);

}  // namespace roentgen::data
