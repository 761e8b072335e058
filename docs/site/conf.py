# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors
"""Configuration of Sphinx, which makes a site of the same Markdown files that the repository shows.

Its search needs no server, because the index is a script.
"""

import html
import os
import re
import shutil
import subprocess

from docutils import nodes
from sphinx import addnodes

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

project = "TaskClock"
html_title = "TaskClock"
html_theme = "furo"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_use_index = False
# Browsers do not let a page from the file system read other pages, from which summaries would come.
html_show_search_summary = False
html_theme_options = {"light_css_variables": {"font-stack": "system-ui, sans-serif"}}

extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "docs/upstream/*.md", "deploy/README.md", "dev/fuzz/README.md", "lab/README.md",
                    "dev/integration/README.md", "dev/integration/*/README.md", "*/results/**.md", "dev/*/results/**.md"]
exclude_patterns = ["**/target", ".git"]

# The anchors of headings are those of GitHub.
myst_heading_anchors = 6
# The lexers differ from what is in the files: some blocks are excerpts of output.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
highlight_language = "none"

# What a link to a directory shows: a list of its files, which are copied.
DIRECTORIES = "_directories"
linked_directories = set()


def prepare(app, docname, source):
    """Adds the pages to README, and leaves results out of the navigation and the search."""
    if "/results/" in docname:
        source[0] = "---\norphan: true\nnosearch: true\n---\n" + source[0]
    if docname == root_doc:
        source[0] += "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages(app)) + "\n```\n"


def pages(app):
    """Returns the pages, in the order of the list in docs/README.md. The others come last."""
    with open(os.path.join(ROOT, "docs/README.md"), encoding="utf-8") as index:
        linked = re.findall(r"\]\(([^)#]+)\.md\)", index.read())
    linked = ["docs/README"] + [os.path.normpath(os.path.join("docs", page)) for page in linked]
    found = [page for page in app.env.found_docs if page != root_doc and "/results/" not in page]
    return sorted(found, key=lambda page: (linked.index(page) if page in linked else len(linked), page))


def resolve_directories(app, doctree):
    """Resolves links to directories of the repository."""
    document = app.env.docname
    for node in list(doctree.findall(addnodes.pending_xref)):
        path = os.path.normpath(os.path.join(os.path.dirname(document), node["reftarget"]))
        if path.startswith("..") or not os.path.isdir(os.path.join(ROOT, path)):
            continue
        linked_directories.add(path)
        up = os.path.relpath(".", os.path.dirname(document) or ".")
        reference = nodes.reference("", "", refuri=f"{up}/{DIRECTORIES}/{path}/index.html", internal=True)
        reference += [child.deepcopy() for child in node.children]
        node.replace_self(reference)


def finish(app, exception):
    """Copies the directories that pages link to, and makes README the first page."""
    if exception:
        return
    for path in sorted(linked_directories):
        copy_directory(os.path.join(app.outdir, DIRECTORIES), path)
    shutil.copy(os.path.join(app.outdir, f"{root_doc}.html"), os.path.join(app.outdir, "index.html"))


def copy_directory(target, path):
    files = subprocess.run(["git", "ls-files", "-z", "--", path], cwd=ROOT, check=True, capture_output=True, text=True)
    names = sorted(os.path.relpath(file, path) for file in files.stdout.split("\0") if file)
    for name in names:
        copy = os.path.join(target, path, name)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(os.path.join(ROOT, path, name), copy)
    items = "\n".join(f'<li><a href="{html.escape(name)}">{html.escape(name)}</a></li>' for name in names)
    with open(os.path.join(target, path, "index.html"), "w", encoding="utf-8") as index:
        index.write(f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(path)}</title>'
                    f"</head><body><h1>{html.escape(path)}</h1><ul>\n{items}\n</ul></body></html>\n")


def setup(app):
    app.connect("source-read", prepare)
    app.connect("doctree-read", resolve_directories)
    app.connect("build-finished", finish)
