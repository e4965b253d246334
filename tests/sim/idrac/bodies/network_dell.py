"""Dell's own resources of network functions."""

from __future__ import annotations

from tests.sim.idrac.call import Body
from tests.sim.idrac.hardware import Adapter, Kind, NetPort
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import INVENTORIED, resource
from tests.sim.idrac.template import own

_NO, _YES = "NotSupported", "Supported"


def infiniband_of(adapter: Adapter, port: NetPort, path: str, profile: Profile) -> Body:
    """``DellInfiniBand``. Its GUIDs are empty under 6.00.30 (captured); newer profiles tell them."""
    guid = "" if profile is Profile.IDRAC9_6 else own("guid", port.function)
    nothing = dict.fromkeys(
        (
            *("ControllerBIOSVersion", "FirstTargetChapId", "FirstTargetChapPwd", "ISCSIOSDriverVersion"),
            *(
                "IscsiInitiatorSubnetPrefix",
                "LANDriverVersion",
                "PermanentiSCSIMACAddress",
                "RDMAOSDriverVersion",
            ),
            *("VirtPortGUID", "VirtiSCSIMACAddress"),
        )
    )
    return resource(
        f"{path}/Oem/Dell/DellInfiniBand/{port.function}",
        "DellInfiniBand",
        "v1_2_0",
        BusNumber=adapter.bus,
        ConnectFirstTarget="Disabled",
        DataBusWidth="16XOrX16",
        DeviceDescription=port.label,
        DeviceNumber=0,
        EFIVersion=adapter.efi,
        FQDD=port.function,
        FamilyVersion=adapter.firmware,
        FunctionNumber=port.number - 1,
        Id=port.function,
        InfiniBandOSDriverVersion="5.15.0",
        InstanceID=port.function,
        LastSystemInventoryTime=INVENTORIED,
        LastUpdateTime=INVENTORIED,
        MediaType="SFF_CAGE",
        Name="DellInfiniBand",
        NodeGUID=guid,
        NumberOfPorts=len(adapter.ports),
        NumberPCIEFunctionsEnabled=1,
        NumberPCIEFunctionsSupported=1,
        **_pci(adapter),
        PermanentPortGUID=guid,
        PrimaryStatus="OK",
        ProductName=adapter.model,
        Protocol="RDMA,InfiniBand",
        SNAPIState="Disabled",
        SNAPISupport="NotAvailable",
        SlotLength="LongLength",
        SlotType="PCIExpressGen5",
        UpdateLockdownCapable="True",
        UpdateLockdownState="Disabled",
        VPISupport="NotAvailable",
        VendorName="Mellanox Technologies, Inc.",
        VirtNodeGUID="",
        **nothing,
    )


def _pci(adapter: Adapter) -> Body:
    names = ("PCIVendorID", "PCIDeviceID", "PCISubVendorID", "PCISubDeviceID")
    return dict(zip(names, adapter.ids, strict=True))


def nic_of(adapter: Adapter, port: NetPort, path: str) -> Body:
    """``DellNIC``."""
    dpu = adapter.kind is Kind.DPU
    nothing = dict.fromkeys(
        (
            *("CableLengthMetres", "IdentifierType", "PermanentFCOEMACAddress", "PermanentiSCSIMACAddress"),
            *("Revision", "TransceiverPartNumber", "TransceiverSerialNumber", "TransceiverVendorName"),
        )
    )
    product = "Mellanox Network Adapter" if dpu else adapter.model
    return resource(
        f"{path}/Oem/Dell/DellNIC/{port.function}",
        "DellNIC",
        "v1_5_0",
        BusNumber=adapter.bus,
        ControllerBIOSVersion=None if dpu else adapter.efi,
        DataBusWidth="16XOrX16" if dpu else "Unknown",
        DeviceDescription=port.label,
        EFIVersion=adapter.efi,
        FCoEOffloadMode="Unknown",
        FQDD=port.function,
        FamilyVersion=adapter.firmware,
        Id=port.function,
        InstanceID=port.function,
        LastSystemInventoryTime=INVENTORIED,
        LastUpdateTime=INVENTORIED,
        LinkDuplex="FullDuplex" if port.speed_mbps else "Unknown",
        MediaType="SFF_CAGE",
        Name="DellNIC",
        NicMode="Unknown",
        **_pci(adapter),
        PartNumber=adapter.part,
        ProductName=f"{product} - {own('mac', port.function)}",
        Protocol="Unknown" if dpu else "NIC",
        SNAPIState="Disabled",
        SNAPISupport="NotAvailable",
        SerialNumber=own("serial", adapter.id),
        SlotLength="LongLength" if dpu else "Unknown",
        SlotType="PCIExpressGen5" if dpu else "Unknown",
        VPISupport="NotAvailable",
        VendorName=None if dpu else "Broadcom Corp",
        iScsiOffloadMode="Unknown",
        **nothing,
    )


_COUNTED = (
    *(
        "RxBroadcast",
        "RxBytes",
        "RxErrorPktAlignmentErrors",
        "RxErrorPktFCSErrors",
        "RxFalseCarrierDetection",
    ),
    *(
        "RxJabberPkt",
        "RxMutlicastPackets",
        "RxPauseXOFFFrames",
        "RxPauseXONFrames",
        "RxRuntPkt",
        "RxUnicastPackets",
    ),
    *("TxBroadcast", "TxBytes", "TxErrorPktExcessiveCollision", "TxErrorPktLateCollision"),
    *("TxErrorPktMultipleCollision", "TxErrorPktSingleCollision", "TxMutlicastPackets", "TxPauseXOFFFrames"),
    *("TxPauseXONFrames", "TxUnicastPackets"),
)
_RDMA = (
    *("RDMARxTotalBytes", "RDMARxTotalPackets", "RDMATotalProtectionErrors", "RDMATotalProtocolErrors"),
    *("RDMATxTotalBytes", "RDMATxTotalPackets", "RDMATxTotalReadReqPkts", "RDMATxTotalSendPkts"),
    "RDMATxTotalWritePkts",
)
_INFINIBAND = (
    *("PortReceiveSwitchRelayTotalErrors", "TotalExcessiveBufferOverrun", "TotalLinkDownedCounter"),
    *("TotalLinkErrorRecoveryCounter", "TotalLocalLinkIntegrityErrors", "TotalPortReceiveData"),
    *("TotalPortReceiveErrors", "TotalPortReceivePackets", "TotalPortReceiveRemotePhysicalErrors"),
    *(
        "TotalPortTransmitData",
        "TotalPortTransmitDiscard",
        "TotalPortTransmitPackets",
        "TotalPortTransmitWait",
    ),
    *("TotalSymbolErrorCounter", "TotalVL15Dropped"),
)


def metrics_of(adapter: Adapter, port: NetPort, path: str) -> Body:
    """``DellInfiniBandPortMetrics`` and ``DellNICPortMetrics``; the misspelt names are Dell's."""
    hca = adapter.kind is Kind.INFINIBAND
    kind = "DellInfiniBandPortMetrics" if hca else "DellNICPortMetrics"
    times = {"StartStatisticTime": INVENTORIED, "StatisticTime": INVENTORIED}
    body = resource(f"{path}/Oem/Dell/{kind}/{port.function}", kind, "v1_0_0" if hca else "v1_1_1")
    body |= {"DiscardedPkts": 0, "FQDD": port.function, "Id": port.function, "Name": kind, **times}
    if hca:
        body |= {
            "LinkSpeed": "NDR",
            "LinkWidth": "4X",
            "PartitionLinkStatus": None,
            "PartitionOSDriverState": None,
        }
        return body | dict.fromkeys(_COUNTED) | dict.fromkeys(_RDMA) | dict.fromkeys(_INFINIBAND, 0)
    fibre = (
        "FCCRCErrorCount",
        "FCOELinkFailures",
        "FCOEPktRxCount",
        "FCOEPktTxCount",
        "FCOERxPktDroppedCount",
    )
    body |= dict.fromkeys((*fibre, "LanFCSRxErrors", *_RDMA)) | dict.fromkeys(_COUNTED, 0)
    body |= {"LanUnicastPktRXCount": 0, "LanUnicastPktTXCount": 0, "OSDriverState": "Operational"}
    state = "Up" if port.speed_mbps else "Down"
    return body | {"PartitionLinkStatus": state, "PartitionOSDriverState": "Operational"}


_BOTH = (
    *("BPESupport", "CongestionNotification", "ETS", "EVBModesSupport", "FeatureLicensingSupport"),
    *("FlexAddressingSupport", "IPSecOffloadSupport", "MACSecSupport", "NWManagementPassThrough"),
    *(
        "OSBMCManagementPassThrough",
        "OnChipThermalSensor",
        "OpenFlowSupport",
        "PXEBootSupport",
        "PartitionWOLSupport",
    ),
    *(
        "PersistencePolicySupport",
        "PriorityFlowControl",
        "RDMASupport",
        "RemotePHY",
        "TCPChimneySupport",
        "VEB",
    ),
    *("VEBVEPAMultiChannel", "VEBVEPASingleChannel", "VirtualLinkControl", "iSCSIBootSupport"),
    *("iSCSIOffloadSupport", "uEFISupport"),
)
_HCA_ONLY = (
    *("DCBExchangeProtocol", "EnergyEfficientEthernet", "NicPartitioningSupport", "RXFlowControl"),
    *(
        "TXBandwidthControlMaximum",
        "TXBandwidthControlMinimum",
        "TXFlowControl",
        "VFSRIOVSupport",
        "WOLSupport",
    ),
)
_FCOE_NUMBERS = (
    *("FCoEMaxIOsPerSession", "FCoEMaxNPIVPerPort", "FCoEMaxNumberExchanges", "FCoEMaxNumberLogins"),
    *("FCoEMaxNumberOfFCTargets", "FCoEMaxNumberOutStandingCommands"),
)
_CAN = frozenset(
    (
        *("NWManagementPassThrough", "OSBMCManagementPassThrough", "OnChipThermalSensor", "PXEBootSupport"),
        *(
            "PersistencePolicySupport",
            "RDMASupport",
            "TXBandwidthControlMaximum",
            "TXBandwidthControlMinimum",
        ),
        *("VFSRIOVSupport", "iSCSIBootSupport", "uEFISupport"),
    )
)


def capabilities_of(adapter: Adapter, port: NetPort, path: str) -> Body:
    """``DellInfiniBandCapabilities`` and ``DellNICCapabilities``."""
    hca = adapter.kind is Kind.INFINIBAND
    kind = "DellInfiniBandCapabilities" if hca else "DellNICCapabilities"
    body = resource(f"{path}/Oem/Dell/{kind}/{port.function}", kind, "v1_0_0" if hca else "v1_1_0")
    body |= {"Id": port.function, "Name": kind}
    body |= {name: _YES if name in _CAN else _NO for name in (*_BOTH, *(_HCA_ONLY if hca else ()))}
    if hca:
        return body | {"LinkSupportedSpeed": "SDR", "LinkSupportedWidth": "1X,2X,4X"}
    return body | dict.fromkeys(_FCOE_NUMBERS, 0) | {"FCoEBootSupport": _NO, "FCoEOffloadSupport": _NO}
