"""A plan is recognised by what is in the file."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from openpyxl import Workbook

from fabricctl.errors import PlanError
from fabricctl.plan.model import PlanFormat
from fabricctl.workflows.load_plan import is_site_text, load_plan_file


def test_a_workbook_is_read_as_one_whatever_its_name(tmp_path: Path) -> None:
    book, out = Workbook(), io.BytesIO()
    assert book.active is not None
    for row in (("a_device", "a_port", "z_device", "z_port"), ("a", 1, "b", 1)):
        book.active.append(row)
    book.save(out)
    path = tmp_path / "cables.csv"
    path.write_bytes(out.getvalue())
    assert load_plan_file(str(path)).format is PlanFormat.XLSX
    assert not is_site_text(str(path))


def test_a_zip_archive_that_is_no_workbook_is_a_plan_error_and_no_site_file(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_bytes(b"PK\x03\x04\nfabrics:\n")
    assert not is_site_text(str(path))
    with pytest.raises(PlanError, match="the workbook cannot be read"):
        load_plan_file(str(path))
