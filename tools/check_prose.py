#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Checks the English of pages, comments and commit subjects. Exits 1 and prints each finding as FILE:LINE.

  check_prose.py            pages, clean rooms of src, commits after the tag 0.1.0 (make lint)
  check_prose.py --report   the number of findings in every room of src

Rules, by the names that tools/check_prose_exceptions.txt uses:

  first-word   a comment begins with a noun or a verb, not with one of FIRST_WORDS
  sentence     a sentence has at most 25 words; a span of code is one word
  cell         a table cell in docs/results has at most 8 words
  subject      a commit subject has at most 72 characters
"""
import fnmatch
import pathlib
import re
import subprocess
import sys
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Rooms of src whose comments pass first-word and sentence. A room is a folder below src, with all folders in it.
CLEAN_ROOMS: tuple[str, ...] = ("bench", "cli", "core", "data", "dist", "engine", "eval", "graph", "io", "models",
                                "publish", "python", "runtime", "score", "synth", "task", "train")
FIRST_WORDS = {"What", "Of", "That", "Who", "Behind", "Beside", "As", "Where", "Likewise"}
MOST_WORDS = 25
MOST_CELL_WORDS = 8
MOST_SUBJECT = 72
MOST_EXCEPTIONS = 10
TAGS = ("0.1.0", "v0.1.0")
# Commit of the tag 0.1.0, for clones without tags.
TAGGED_COMMIT = "56e5723478d85c2fe10dc1d65e94dbfbb1a1f37e"
RULES = ("first-word", "sentence", "cell")
# Dots that end no sentence.
ABBREVIATIONS = re.compile(r"\b(et al|e\.g|i\.e|vs|cf|Fig|eq|no)\.", re.IGNORECASE)


class Finding(typing.NamedTuple):
    """A place where the text breaks a rule."""
    path: str
    line: int
    rule: str
    text: str


class Prose(typing.NamedTuple):
    """Text that stands alone: a paragraph, a list item, a heading, a table cell or a comment."""
    line: int
    text: str
    is_cell: bool = False


def plain(text):
    """Text without markup: a span of code becomes one word, a link becomes its text, an image is removed."""
    text = re.sub(r"``.+?``|`[^`]*`", "CODE", text)
    text = re.sub(r"!\[[^]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[^<> ]+>", " ", text)
    return ABBREVIATIONS.sub(r"\1", text)


def words(text):
    return [word for word in text.split() if re.search(r"\w", word)]


def sentences(text):
    """Sentences of a piece of prose. A sentence ends at . ! or ? before a blank or the end."""
    return [part for part in re.split(r"(?<=[.!?])[)\"'*_]*(?:\s+|$)", plain(text)) if words(part)]


def page_prose(text):
    """Prose of a Markdown page, without fenced and indented code."""
    found, paragraph, start, fence, was_blank = [], [], 0, "", True

    def flush():
        if paragraph:
            found.append(Prose(start, " ".join(paragraph)))
            paragraph.clear()

    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        mark = re.match(r"(```+|~~~+)", line)
        if fence:
            fence = "" if mark and line == fence[:1] * len(line) and len(line) >= len(fence) else fence
        elif mark:
            flush()
            fence = mark[1]
        elif not line or re.fullmatch(r"[-*_=]{3,}|<!--.*-->", line):
            flush()
        elif raw.startswith("    ") and was_blank and not paragraph:
            flush()
        elif line.startswith("|"):
            flush()
            if not re.fullmatch(r"[|:\- ]+", line):
                cells = re.split(r"(?<!\\)\|", re.sub(r"`[^`]*`", "CODE", line).strip("|"))
                found += [Prose(number, cell.strip(), True) for cell in cells if cell.strip()]
        else:
            item = re.match(r"(#+|[-*+]|\d+\.|>)\s+", line)
            if item:
                flush()
            if not paragraph:
                start = number
            paragraph.append(line[item.end():] if item else line)
            if item and item[1].startswith("#"):
                flush()
        was_blank = not line
    flush()
    return found


def comments(text):
    """Comments of a C++ source. Consecutive comment lines are one comment, but each @tag and each comment after code begins
    a new one.

    Lines indented by two blanks more are formulas or code, unless an @tag is continued.
    """
    found, block, start, is_tag = [], [], 0, False

    def flush():
        if block:
            found.append(Prose(start, " ".join(block)))
            block.clear()

    for number, line in enumerate([*text.splitlines(), ""], 1):
        whole = re.match(r"\s*//[/!]?<?(?: |(?=\S)|$)(.*)", line)
        written = whole[1].strip() if whole else ""
        if written and not written.startswith("SPDX-"):
            if written.startswith("@"):
                flush()
                is_tag = True
            elif whole[1].startswith("  ") and not is_tag:
                flush()
                continue
            if not block:
                start = number
            block.append(written)
            continue
        flush()
        is_tag = False
        behind = re.search(r"(?<![:\"'])//[/!]?<?\s+(.*)", line) if not whole else None
        if behind and '"' not in behind[1]:
            found.append(Prose(number, behind[1].strip()))
    return found


def long_sentences(path, prose):
    return [Finding(path, part.line, "sentence", f"{len(words(sentence))} words: {sentence[:60]}...")
            for part in prose for sentence in sentences(part.text) if len(words(sentence)) > MOST_WORDS]


def check_page(path, text):
    """Findings of a Markdown page; `path` is relative to the root."""
    prose = page_prose(text)
    found = long_sentences(path, prose)
    if path.startswith("docs/results/"):
        found += [Finding(path, cell.line, "cell", f"{len(words(plain(cell.text)))} words: {cell.text[:60]}")
                  for cell in prose if cell.is_cell and len(words(plain(cell.text))) > MOST_CELL_WORDS]
    return found


def check_source(path, text):
    """Findings of a C++ source."""
    prose = comments(text)
    found = long_sentences(path, prose)
    for comment in prose:
        first = re.match(r"\w+", comment.text)
        if first and first[0] in FIRST_WORDS:
            found.append(Finding(path, comment.line, "first-word", comment.text[:60]))
    return found


def check_subjects(subjects):
    """Findings of commit subjects, given as lines of hash and subject."""
    found = []
    for line in subjects:
        commit, _, subject = line.partition(" ")
        if len(subject) > MOST_SUBJECT:
            found.append(Finding(commit[:12], 1, "subject", f"{len(subject)} characters: {subject[:60]}..."))
    return found


def subjects_after_tag(root):
    """Hash and subject of every commit after 0.1.0, without merges; empty if neither tag nor commit of 0.1.0 exists."""
    def git(*words, check=True):
        return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=check).stdout

    found = [name for name in (*TAGS, TAGGED_COMMIT)
             if git("rev-parse", "-q", "--verify", f"{name}^{{commit}}", check=False)]
    if not found:
        print(f"check_prose: no commit of {TAGS[0]} here, so commit subjects are not checked")
        return []
    return git("log", "--no-merges", "--format=%H %s", f"{found[0]}..HEAD").splitlines()


def read_exceptions(text):
    """(glob of paths, rule) of every line of the exceptions file."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    if len(lines) > MOST_EXCEPTIONS:
        raise ValueError(f"expected at most {MOST_EXCEPTIONS} exceptions, got {len(lines)}")
    found = []
    for line in lines:
        fields = line.split(maxsplit=2)
        if len(fields) < 3 or fields[1] not in RULES:
            raise ValueError(f"expected GLOB RULE REASON, with a rule of {', '.join(RULES)}, got {line!r}")
        found.append((fields[0], fields[1]))
    return found


def without_exceptions(findings, exceptions):
    """Findings that no exception covers, and exceptions that cover no finding."""
    used, left = set(), []
    for finding in findings:
        covers = [entry for entry in exceptions if entry[1] == finding.rule and fnmatch.fnmatch(finding.path, entry[0])]
        used.update(covers)
        if not covers:
            left.append(finding)
    return left, [entry for entry in exceptions if entry not in used]


def pages(root):
    return sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md"), root / "python/README.md"])


def sources(root, room=""):
    return sorted(path for path in (root / "src" / room).rglob("*") if path.suffix in (".h", ".cpp", ".cu"))


def check_files(root, paths, check):
    return [finding for path in paths
            for finding in check(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))]


def report(root):
    """Prints the number of findings by room of src, most first."""
    counts = {}
    for finding in check_files(root, sources(root), check_source):
        room = "/".join(finding.path.split("/")[1:-1])
        counts.setdefault(room, {"first-word": 0, "sentence": 0})[finding.rule] += 1
    for room, count in sorted(counts.items(), key=lambda entry: -sum(entry[1].values())):
        print(f"{room:32} first-word {count['first-word']:5}  sentence {count['sentence']:5}")


def main():
    if sys.argv[1:] == ["--report"]:
        report(ROOT)
        return 0
    findings = check_files(ROOT, pages(ROOT), check_page)
    for room in CLEAN_ROOMS:
        findings += check_files(ROOT, sources(ROOT, room), check_source)
    exceptions = read_exceptions((ROOT / "tools/check_prose_exceptions.txt").read_text(encoding="utf-8"))
    findings, unused = without_exceptions(findings, exceptions)
    findings += check_subjects(subjects_after_tag(ROOT))
    for finding in findings:
        print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.text}")
    for glob, rule in unused:
        print(f"tools/check_prose_exceptions.txt: {glob} {rule}: covers nothing; remove it")
    return 1 if findings or unused else 0


if __name__ == "__main__":
    sys.exit(main())
