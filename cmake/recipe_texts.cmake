# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Run by a build (cmake -P) whenever a recipe changes: writes recipes/*.toml into a header, so that the program contains
# them. Needs RECIPES (the folder) and OUTPUT.
file(GLOB files ${RECIPES}/*.toml)
list(SORT files)
list(LENGTH files count)
set(text "// Written by cmake/recipe_texts.cmake.\n#pragma once\n\n#include <array>\n#include <string_view>\n#include <utility>\n\n"
  "namespace roentgen::task::recipe_texts {\n/// Name and text of each file, by name.\n"
  "inline constexpr std::array<std::pair<std::string_view, std::string_view>, ${count}> kRecipes{{\n")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} recipe)
  string(APPEND text "    {\"${name}\", R\"recipe(${recipe})recipe\"},\n")
endforeach()
string(APPEND text "}};\n}  // namespace roentgen::task::recipe_texts\n")
file(WRITE ${OUTPUT} "${text}")
