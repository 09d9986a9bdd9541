# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Writes texts that are generated from PROGRAM's help into the folder OUTPUT (cmake -P): man pages of the program and of
# each command (man1), and completion for bash and zsh (completions). Also needs VERSION.
cmake_minimum_required(VERSION 3.25)

# Sets `result` to `text` with characters escaped that have a special meaning in roff: backslashes, hyphens that are
# minus signs, and dots and apostrophes at the beginning of a line.
function(roff_text result text)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Writes the man page of `name` with the description `what`, the synopsis `usage` and the text `help`.
function(write_man_page name what usage help)
  roff_text(what "${what}")
  roff_text(help "${help}")
  string(REPLACE "-" "\\-" roff_name "${name}")
  string(TOUPPER "${name}" title)
  file(WRITE ${OUTPUT}/man1/${name}.1 ".TH ${title} 1 \"\" \"Roentgen ${VERSION}\"
.SH NAME
${roff_name} \\- ${what}
.SH SYNOPSIS
.B roentgen
${usage}
.SH DESCRIPTION
.nf
${help}.fi
.SH FILES
Recipes lie in
.I share/roentgen/recipes
below the folder of the installation.
")
endfunction()

# Sets `result` to the output of PROGRAM with the remaining arguments.
function(program_says result)
  execute_process(COMMAND ${PROGRAM} ${ARGN} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${help}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${OUTPUT}/man1 ${OUTPUT}/completions)
program_says(help)
write_man_page(roentgen "train, evaluate and run chest X-ray classifiers" ".I COMMAND\n[\\fIOPTIONS\\fR]" "${help}")

# The list of commands stands between two empty lines.
string(REGEX REPLACE ".*\nSubcommands:\n" "" list "${help}")
string(REGEX REPLACE "\n\n.*" "\n" list "${list}")
string(REGEX MATCHALL "(^|\n)  [a-z][a-z-]*" commands "${list}")
string(REGEX REPLACE "\n|  " "" commands "${commands}")
set(bash_cases "")
set(zsh_cases "")
set(zsh_commands "")
foreach(command IN LISTS commands)
  program_says(help ${command})
  string(REGEX MATCH "^[^\n]*" what "${help}")
  write_man_page(roentgen-${command} "${what}" ".B ${command}\n[\\fIOPTIONS\\fR]" "${help}")
  # Options may share a line: --a,--b NUMBER.
  string(REGEX MATCHALL "\n  (-[a-z],)?--[a-z][a-z-]*(,--[a-z][a-z-]*)*" options "${help}")
  string(REGEX REPLACE "\n  (-[a-z],)?" "" options "${options}")
  string(REPLACE "," " " options "${options}")
  list(JOIN options " " options)
  string(APPEND bash_cases "    ${command}) options=\"${options}\" ;;\n")
  string(APPEND zsh_cases "    ${command}) options=(${options}) ;;\n")
  string(REPLACE ":" "\\:" what "${what}")
  string(REPLACE "'" "'\\''" what "${what}")
  string(APPEND zsh_commands "    '${command}:${what}'\n")
endforeach()
list(JOIN commands " " names)

file(WRITE ${OUTPUT}/completions/roentgen "# Completion of roentgen ${VERSION} for bash.
_roentgen() {
  local word=\${COMP_WORDS[COMP_CWORD]} options=\"\"
  if [ \"$COMP_CWORD\" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W \"${names} --help --version\" -- \"$word\")
    return
  fi
  case \${COMP_WORDS[1]} in
${bash_cases}  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")
  else
    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")
  fi
}
complete -o filenames -F _roentgen roentgen
")
file(WRITE ${OUTPUT}/completions/_roentgen "#compdef roentgen
# Completion of roentgen ${VERSION} for zsh.
local -a commands options
if (( CURRENT == 2 )); then
  commands=(
${zsh_commands}  )
  _describe command commands
else
  case \$words[2] in
${zsh_cases}  esac
  if [[ \$words[CURRENT] == -* ]]; then compadd -- \$options; else _files; fi
fi
")
