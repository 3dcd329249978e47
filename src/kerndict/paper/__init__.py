"""The paper's experiments: settings, a resumable run, tables, figures, a report."""

from kerndict.paper.protocol import paper_settings

__all__ = ["paper_settings"]
