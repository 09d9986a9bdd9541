# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Links on the site: those that leave docs/ become text; all others stay, broken ones too, which mkdocs refuses."""
import types
import unittest

import docs_hooks

PAGE = types.SimpleNamespace(file=types.SimpleNamespace(src_uri="guide/train.md"))


class Links(unittest.TestCase):
    def seen(self, markdown):
        return docs_hooks.on_page_markdown(markdown, page=PAGE)

    def test_links_to_sources_and_folders_become_text(self):
        self.assertEqual(self.seen("[deploy/](../../deploy), [decisions](../adr)"), "deploy/, decisions")

    def test_links_to_pages_anchors_and_addresses_stay(self):
        text = "[a](evaluate.md) [b](#stop-and-resume) [c](https://x.org) [d](absent.md) ![e](../images/speed.svg)"
        self.assertEqual(self.seen(text), text)


if __name__ == "__main__":
    unittest.main()
