"""The service root and what is found without login."""

from __future__ import annotations

from tests.sim.idrac.call import Body
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.template import own
from tests.sim.idrac.tree import Tree

ROOT = "/redfish/v1"


def install(tree: Tree, profile: Profile) -> None:
    """``/redfish``, the root, and its list of services."""
    traits = profile.value
    tree.fixed("/redfish", {"v1": "/redfish/v1/"}, anonymous=True)
    body: Body = {
        "@odata.context": f"{ROOT}/$metadata#ServiceRoot.ServiceRoot",
        "@odata.id": ROOT,
        "@odata.type": traits.root_type,
        "Description": "Root Service",
        "Id": "RootService",
        "Links": {"Sessions": {"@odata.id": f"{ROOT}/SessionService/Sessions"}},
        "Name": "Root Service",
        "Oem": {
            "Dell": {
                "@odata.context": f"{ROOT}/$metadata#DellServiceRoot.DellServiceRoot",
                "@odata.type": "#DellServiceRoot.v1_0_0.DellServiceRoot",
                "IsBranded": 0,
                "ManagerMACAddress": own("bmc_mac"),
                "ServiceTag": own("tag"),
            }
        },
        "Product": "Integrated Dell Remote Access Controller",
        "ProtocolFeaturesSupported": {
            "DeepOperations": {"DeepPATCH": False, "DeepPOST": False},
            "ExcerptQuery": False,
            "ExpandQuery": {
                "ExpandAll": True,
                "Levels": True,
                "Links": True,
                "MaxLevels": 1,
                "NoLinks": True,
            },
            "FilterQuery": True,
            "OnlyMemberQuery": True,
            "SelectQuery": True,
        },
        "RedfishVersion": traits.redfish,
        "Tasks": {"@odata.id": f"{ROOT}/TaskService"},
        "Vendor": "Dell",
    }
    for name in (
        *("AccountService", "CertificateService", "Chassis", "EventService", "Fabrics", "JobService"),
        *(
            "JsonSchemas",
            "Managers",
            "Registries",
            "SessionService",
            "Systems",
            "TelemetryService",
            "UpdateService",
        ),
    ):
        body[name] = {"@odata.id": f"{ROOT}/{name}"}
    tree.fixed(ROOT, dict(sorted(body.items())), anonymous=True)
