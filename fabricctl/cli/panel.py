"""``fabricctl panel``: which cage holds which port, what it is called, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from fabricctl.panels import Panel

app = typer.Typer(help="Show the panels of device models.", no_args_is_help=True)

SiteOption = Annotated[
    str, typer.Option("--site", metavar="FILE", help="Site file whose models and changes count too.")
]


@app.command("list", short_help="List the device models whose panel is known.")
def list_(site: SiteOption = "") -> None:
    """List the device models whose panel is known, and how sure its parts are."""
    from fabricctl.cli.console import print_lines
    from fabricctl.report.panel_screen import render_list

    panels, own = _panels(site)
    print_lines(render_list(panels, own))


@app.command(short_help="Draw one model's panel, with statuses and sources.")
def show(
    model: Annotated[str, typer.Argument(metavar="MODEL", hidden=True)],
    site: SiteOption = "",
    ports: Annotated[
        bool, typer.Option("--ports", help="List every port with all its numbers and labels too.")
    ] = False,
) -> None:
    """Draw one model's panel as rows and columns, with how sure each part of it is and by which source.

    MODEL is a device model (QM9700, MQM8790-HS2F, dgx-h100) or a model of the site file. What is no more than usual
    is marked so: look before you rely on it, and let the site file say it (switch_models or node_models: panel).
    """
    import shutil

    from fabricctl.cli.console import print_lines
    from fabricctl.panel_tables import panel_of_model
    from fabricctl.report.panel_screen import render_panel

    panels, _ = _panels(site)
    found = panels.get(model) or panel_of_model(model, panels)
    if found is None:
        raise UsageError(f"no panel of a model {model!r} is known", hint=f"known: {', '.join(panels)}")
    width = min(shutil.get_terminal_size((100, 40)).columns, 160)
    print_lines(render_panel(found, width=width, every_port=ports))


def _panels(site_file: str) -> tuple[dict[str, Panel], list[str]]:
    """Panels by model name, and the names of those that the site file gives or changes."""
    from fabricctl.panel_tables import builtin_panels

    if not site_file:
        return dict(builtin_panels()), []
    from fabricctl.adapters.files import decode, read_input
    from fabricctl.site.load import load_site
    from fabricctl.site.panels import site_panels

    site = load_site(decode(read_input(site_file), site_file), site_file)
    own = (*site.switch_models, *site.node_models)
    panels = site_panels(site)
    return panels, [name for name in own if name in panels]
