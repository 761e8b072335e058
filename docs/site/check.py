#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
"""Checks the links of a built site, from its pages to pages, anchors, and files. Exits with 1 if one is broken.

Usage: check.py DIRECTORY
"""

import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links = []
        self.anchors = {"", "top"}
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        self.links += [values[name] for name in ("href", "src") if values.get(name)]


def main(site):
    pages = {}
    for directory, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(directory, name)
                pages[os.path.normpath(path)] = Page(path)
    broken = []
    count = 0
    for path, page in sorted(pages.items()):
        for link in page.links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            count += 1
            target = os.path.normpath(os.path.join(os.path.dirname(path), unquote(url.path))) if url.path else path
            if os.path.isabs(url.path) or os.path.relpath(target, site).startswith(".."):
                broken.append(f"{path}: {link}: leaves the site")
            elif not os.path.isfile(target):
                broken.append(f"{path}: {link}: no such file")
            elif target in pages and unquote(url.fragment) not in pages[target].anchors:
                broken.append(f"{path}: {link}: no such anchor")
    for line in broken:
        print(f"site: {line}", file=sys.stderr)
    if count == 0:
        sys.exit(f"site: {site}: no links: build the site first")
    print(f"site: {len(pages)} pages, {count} links, {len(broken)} broken")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
