# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Groups sources that clang-tidy can check as one file.

clang-tidy spends four fifths of its time on included headers, and sources of one module include mostly the same headers.
Two sources can be checked together if their compiler options are equal and their anonymous namespaces have no common
name, because a single file merges these namespaces.
"""
import pathlib
import re
import shlex

_ANONYMOUS = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
_TYPE = re.compile(r"(?:struct|class|enum class|enum|union|using|namespace)\s+(\w+)")
# Macro with which Highway compiles a source again for every instruction set, by the source's name.
_INCLUDES_ITSELF = "HWY_TARGET_INCLUDE"
_DECLARED = re.compile(r"(\w+)\s*(?:\(|=|\{|\[|;)")


def own_names(text):
    """Names at the left margin in the anonymous namespaces of a source formatted by clang-format."""
    names = set()
    for block in _ANONYMOUS.findall(text):
        for line in block.splitlines():
            if not line or not (line[0].isalpha() or line[0] in "_["):
                continue
            line = re.sub(r"^(\[\[\w+\]\]\s*|template <.*?> |extern \"C\" )+", "", line)
            found = _TYPE.match(line) or _DECLARED.search(line)
            if found:
                names.add(found.group(1))
    return names


def arguments_of(command):
    """Compiler arguments without compiler, source and output, and without options that clang does not know."""
    words = shlex.split(command)
    first = next(i for i, word in enumerate(words) if word.startswith("-"))
    kept, skip = [], False
    for word in words[first:]:
        if not skip and word not in ("-o", "-c") and not word.startswith("--param="):
            kept.append(word)
        skip = not skip and word in ("-o", "-c")
    return kept


def groups_of(sources, commands, largest):
    """Lists of sources to be checked as one file each; deterministic. Groups neighbours by path, because they include
    the same headers."""
    groups = []
    for source in sorted(sources):
        text = source.read_text(encoding="utf-8")
        if _INCLUDES_ITSELF in text:
            groups.append({"alike": None, "names": set(), "sources": [source]})
            continue
        names = own_names(text)
        alike = (source.relative_to(pathlib.Path("/")).parts[:-1], tuple(arguments_of(commands[source])))
        for group in groups:
            if len(group["sources"]) < largest and group["alike"] == alike and not group["names"] & names:
                break
        else:
            group = {"alike": alike, "names": set(), "sources": []}
            groups.append(group)
        group["names"] |= names
        group["sources"].append(source)
    return [group["sources"] for group in groups]
