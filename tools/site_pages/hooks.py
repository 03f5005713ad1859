"""The hooks of mkdocs: pages that are made of what the program declares, and links to files of the repository."""

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent.parent
for _folder in (ROOT / "tools" / "site_pages", ROOT / "tools" / "study"):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

import finding_pages  # noqa: E402
import gallery_pages  # noqa: E402
import links  # noqa: E402
import pages  # noqa: E402
import record_values  # noqa: E402


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Adds the generated pages to the navigation."""
    config.nav = pages.navigation(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    try:
        generated = pages.generated()
    except (links.BrokenLink, record_values.NoSuchValue) as error:
        raise PluginError(str(error)) from error
    for name, text in generated.items():
        if files.get_file_from_path(name) is not None:
            raise PluginError(f"docs/{name}: the site makes this page. Remove the file.")
        files.append(File.generated(config, name, content=text))
    for name, path in gallery_pages.files().items():
        files.append(File.generated(config, name, abs_src_path=str(path)))
    for name, content in gallery_pages.phone_files().items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Leads links that leave the folder of pages to the repository; fills in what pages take from records."""
    name = page.file.src_uri
    page.meta["search"] = pages.search(name)
    try:
        return finding_pages.site().with_links(pages.filled(markdown, name), name)
    except links.BrokenLink as error:
        raise PluginError(str(error)) from error
