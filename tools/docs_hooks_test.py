# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Links on the site: those that leave docs/ become text; all others stay, broken ones too, which mkdocs refuses. Notebooks."""
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

    def test_links_to_notebooks_lead_to_their_pages(self):
        self.assertEqual(self.seen("[a](../notebooks/a.ipynb)"), "[a](../notebooks/a.md)")


class Notebooks(unittest.TestCase):
    def test_a_page_has_texts_code_outputs_and_pictures(self):
        cells = [{"cell_type": "markdown", "source": ["# Title"]},
                 {"cell_type": "code", "source": ["f()"], "outputs": [
                     {"output_type": "stream", "text": ["one\n", "two\n"]},
                     {"output_type": "display_data", "data": {"image/png": "QUJD\n", "text/plain": ["<Figure>"]}}]}]
        self.assertEqual(docs_hooks.notebook_page({"cells": cells}),
                         "# Title\n\n```python\nf()\n```\n\n```text\none\ntwo\n```\n\n"
                         '<img alt="output of the cell above" src="data:image/png;base64,QUJD">\n')


if __name__ == "__main__":
    unittest.main()
