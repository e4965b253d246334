"""Passwords that were written into a site file by mistake are not repeated."""

from __future__ import annotations

import pytest

from fabricctl.errors import SiteError
from fabricctl.site.load import load_site

WORD = "hunter2-xyzzy"


@pytest.mark.parametrize(
    "text",
    [
        f"bmc_access: {WORD}",
        f"bmc_access: [{WORD}]",
        f"bmc_access: {{gpu001: {WORD}}}",
        f"bmc_access: {{gpu001: {{password: {WORD}}}}}",
        f"bmc_access: {{gpu001: {{password: [{WORD}]}}}}",
        f"bmc_access: {{gpu001: {{user: [{WORD}]}}}}",
        f"bmc_access: {{gpu001: {{port: {WORD}}}}}",
        f"bmc_access: {{gpu001: {{verify: {WORD}}}}}",
        f"bmc_access: {{gpu001: {{basic: {WORD}}}}}",
        f"secrets: {WORD}",
        f"secrets: [{WORD}]",
    ],
)
def test_a_value_where_passwords_are_written_is_not_repeated(text: str) -> None:
    head = "name: hall\nnode_models: {m: {hcas: [mlx5_0]}}\nnodes: {gpu001: {model: m}}\n"
    with pytest.raises(SiteError) as caught:
        load_site(f"{head}management:\n  {text}\n", "site.yaml")
    shown = str(caught.value) + "".join(str(one) for one in getattr(caught.value, "errors", ()))
    assert "expected" in shown
    assert WORD not in shown
