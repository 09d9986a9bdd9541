# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Writes the man page OUTPUT from what PROGRAM says of itself (cmake -P). Needs also VERSION.
execute_process(COMMAND ${PROGRAM} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
# Characters that mean something else to roff: backslashes, hyphens that are minus signs, and dots that begin a line.
string(REPLACE "\\" "\\e" help "${help}")
string(REPLACE "-" "\\-" help "${help}")
string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" help "${help}")
file(WRITE ${OUTPUT} ".TH ROENTGEN 1 \"\" \"Roentgen ${VERSION}\"
.SH NAME
roentgen \\- train, evaluate and run chest X\\-ray classifiers
.SH SYNOPSIS
.B roentgen
.I COMMAND
[\\fIOPTIONS\\fR]
.SH DESCRIPTION
.nf
${help}.fi
.SH FILES
Recipes lie in
.I share/roentgen/recipes
below the folder of the installation.
")
