"""What an iDRAC says when it refuses: ids of its event registry and the standard ones, their texts and statuses.

Ids and texts as seen in captures and public issues of iDRAC9 and iDRAC10; a feature adds its own with :func:`known`.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter

from tests.sim.idrac.call import Answer, Body, RefusedError
from tests.sim.idrac.profile import Profile


@dataclass(frozen=True, slots=True)
class Text:
    """One message: ``{0}`` in its text stands for its first argument.

    :param base: of the standard (Base) registry, not of Dell's; :param status: usual HTTP status of a refusal with it.
    """

    text: str
    resolution: str
    severity: str = "Critical"
    status: int = 400
    base: bool = False


_RETRY = "Wait for the data to be available and retry the operation."
TEXTS: dict[str, Text] = {
    "SYS403": Text(
        "Unable to complete the operation because the resource {0} entered is not found.",
        "Enter the correct resource and retry the operation.",
        status=404,
    ),
    "SYS402": Text(
        "Unable to run the method because the requested HTTP method is not allowed.",
        "Enter a valid HTTP method and retry the operation.",
        "Informational",
        status=405,
    ),
    "SYS405": Text(
        "Unable to complete the operation because the JSON data format entered is invalid.",
        "Enter the correct JSON data format and retry the operation.",
    ),
    "SYS410": Text(
        "Unable to modify the attribute because the attribute is read-only and depends on other attributes.",
        "Verify if the attribute depends on other attributes, set these first and retry the operation.",
        "Informational",
    ),
    "SYS426": Text(
        "Unable to complete the operation because the value {0} entered for the property {1} is not in the list of "
        "acceptable values.",
        "Enter a valid value from the enumeration list that Redfish service supports and retry the operation.",
        "Warning",
    ),
    "SYS428": Text(
        "Unable to complete the operation because the property {0} is read-only or not known.",
        "Remove the property from the request and retry the operation.",
        "Warning",
    ),
    "SYS444": Text(
        "Unable to set {0} because the boot mode of the system does not support it.",
        "Change the boot mode and retry the operation.",
        "Warning",
    ),
    "SYS446": Text(
        "Unable to start the operation because the required parameter {0} is missing.",
        "Enter the parameter and retry the operation.",
    ),
    "SYS518": Text(
        "iDRAC is currently unable to display any information because data sources are unavailable.",
        _RETRY,
        "Informational",
        status=503,
    ),
    "SWC0700": Text(
        "iDRAC is not ready. The configuration values cannot be accessed. Please retry after a few minutes.",
        "Wait until iDRAC is ready and retry the operation.",
        "Warning",
    ),
    "SWC1908": Text(
        "Unable to complete the operation because the default password is still in use and must be changed.",
        "Change the default password of the default user in one of the interfaces of iDRAC.",
        status=403,
    ),
    "RAC0218": Text(
        "The maximum number of user sessions is reached.",
        "Close one or more sessions before opening another session.",
        "Informational",
        status=503,
    ),
    "RAC0508": Text(
        "Unable to complete the operation because the provider is not ready.",
        "Wait for few minutes, refresh the page and retry. If the problem persists, reset the iDRAC.",
        "Critical",
        status=500,
    ),
    "RAC0212": Text(
        "Unable to log in because the user account or the address is blocked after failed attempts.",
        "Wait until the block ends and retry the operation.",
        status=401,
    ),
    "PSU501": Text(
        "Server is already powered {0}.", "No response action is required.", "Informational", status=409
    ),
    "LIC501": Text(
        "A required license is missing or expired.",
        "Obtain an appropriate license then try again.",
        "Warning",
        status=403,
    ),
    "SYS011": Text(
        "Pending configuration values are already committed, unable to perform another set operation.",
        "Wait for the scheduled job to complete or delete the configuration jobs before attempting more set "
        "attribute operations.",
        "Warning",
    ),
    "RAC0679": Text(
        "A job operation is already running. Retry the operation after the existing job is completed.",
        "Wait until the running job is completed and retry the operation.",
        "Informational",
        status=503,
    ),
    "LC068": Text(
        "Unable to perform the import or export operation because there are pending attribute changes or a "
        "configuration job is in progress.",
        "Apply or cancel the pending attribute changes, wait for or delete the job, then retry the operation.",
        "Warning",
    ),
    "SYS413": Text("The operation successfully completed.", "No response action is required.", "OK", 200),
    "Success": Text("Successfully Completed Request", "None", "OK", 200, base=True),
    "AccessDenied": Text(
        "The authentication credentials included with this request are missing or invalid.",
        "Attempt to ensure that the URI is correct and that the service has the appropriate credentials.",
        status=401,
        base=True,
    ),
    "InsufficientPrivilege": Text(
        "There are insufficient privileges for the account or credentials associated with the current session to "
        "perform the requested operation.",
        "Either abandon the operation or change the associated access rights.",
        status=403,
        base=True,
    ),
    "ServiceTemporarilyUnavailable": Text(
        "The service is temporarily unavailable.  Retry in {0} seconds.",
        "Wait for the indicated retry duration and retry the operation.",
        status=503,
        base=True,
    ),
    "ResourceMissingAtURI": Text(
        "The resource at the URI {0} was not found.",
        "Place a valid resource at the URI or correct the URI and resubmit the request.",
        status=404,
        base=True,
    ),
    "OperationNotAllowed": Text(
        "The HTTP method is not allowed on this resource.", "None.", status=405, base=True
    ),
    "PreconditionFailed": Text(
        "The ETag supplied did not match the ETag required to change this resource.",
        "Try the operation again using the appropriate ETag.",
        status=412,
        base=True,
    ),
    "PreconditionRequired": Text(
        "A precondition header or annotation is required to change this resource.",
        "Try the operation again using an If-Match or If-None-Match header and appropriate ETag.",
        status=428,
        base=True,
    ),
    "MalformedJSON": Text(
        "The request body submitted was malformed JSON and could not be parsed by the receiving service.",
        "Ensure that the request body is valid JSON and resubmit the request.",
        base=True,
    ),
    "QueryParameterUnsupported": Text(
        "Query parameter {0} is not supported.",
        "Correct or remove it and resubmit.",
        "Warning",
        501,
        base=True,
    ),
    "QueryParameterValueFormatError": Text(
        "The value {0} for the parameter {1} is of a different format than the parameter can accept.",
        "Correct the value for the query parameter in the request and resubmit the request.",
        "Warning",
        base=True,
    ),
    "PropertyValueNotInList": Text(
        "The value {0} for the property {1} is not in the list of acceptable values.",
        "Choose a value from the enumeration list that the implementation can support and resubmit the request.",
        "Warning",
        base=True,
    ),
    "PropertyMissing": Text(
        "The property {0} is a required property and must be included in the request.",
        "Ensure that the property is in the request body and has a valid value and resubmit the request.",
        "Warning",
        base=True,
    ),
    "PropertyUnknown": Text(
        "The property {0} is not in the list of valid properties for the resource.",
        "Remove the unknown property from the request body and resubmit the request.",
        "Warning",
        base=True,
    ),
    "ActionParameterValueNotInList": Text(
        "The value {0} for the parameter {1} in the action {2} is not in the list of acceptable values.",
        "Choose a value from the enumeration list that the implementation can support and resubmit the request.",
        "Warning",
        base=True,
    ),
    "ActionParameterMissing": Text(
        "The action {0} requires the parameter {1} to be present in the request body.",
        "Supply the action with the required parameter in the request body when the request is resubmitted.",
        base=True,
    ),
    "PasswordChangeRequired": Text(
        "The password provided for this account must be changed before access is granted. PATCH the 'Password' "
        "property for this account located at the target URI {0} to complete this process.",
        "Change the password for this account using a PATCH to the 'Password' property at the URI provided.",
        status=403,
        base=True,
    ),
    "GeneralError": Text(
        "A general error has occurred. See ExtendedInfo for more information",
        "See ExtendedInfo for more information.",
        status=500,
        base=True,
    ),
}


def known(key: str, text: Text) -> None:
    """Add a message of a feature."""
    TEXTS.setdefault(key, text)


def message(profile: Profile, key: str, *args: str, text: str = "") -> Body:
    """One entry of ``@Message.ExtendedInfo``; ``text`` overrides the registry's."""
    entry = TEXTS.get(key, Text("{0}" if args else key, "None."))
    traits = profile.value
    return {
        "Message": text or entry.text.format(*args),
        "MessageArgs": list(args),
        "MessageArgs@odata.count": len(args),
        "MessageId": f"{traits.base if entry.base else traits.registry}.{key}",
        "RelatedProperties": [],
        "RelatedProperties@odata.count": 0,
        "Resolution": entry.resolution,
        "Severity": entry.severity,
    }


def arguments(key: str, *args: str, other: str) -> tuple[str, ...]:
    """Arguments for the text of a message: those given, then ``other`` for every further one that it has."""
    fields = {name for _, name, _, _ in Formatter().parse(TEXTS[key].text) if name} if key in TEXTS else set()
    return (*args, *[other] * (len(fields) - len(args)))


def errors(profile: Profile, status: int, *messages: Body, headers: dict[str, str] | None = None) -> Answer:
    """An error answer with these messages."""
    body = {
        "error": {
            "@Message.ExtendedInfo": list(messages),
            "code": f"{profile.value.base}.GeneralError",
            "message": "A general error has occurred. See ExtendedInfo for more information",
        }
    }
    return Answer(status, body, dict(headers or {}))


def error(profile: Profile, key: str, *args: str, status: int = 0) -> Answer:
    """An error answer with one message, by default with the status that goes with it."""
    known_status = TEXTS[key].status if key in TEXTS else 400
    return errors(profile, status or known_status, message(profile, key, *args))


def refused(profile: Profile, key: str, *args: str, status: int = 0) -> RefusedError:
    """The same, to be raised by a handler."""
    return RefusedError(error(profile, key, *args, status=status))


def success(profile: Profile) -> Answer:
    """What a PATCH that worked answers with: two messages, both saying so."""
    return Answer(200, {"@Message.ExtendedInfo": [message(profile, "SYS413"), message(profile, "Success")]})


def not_found(profile: Profile, path: str) -> Answer:
    """404 with the pair of messages of a real one."""
    pair = message(profile, "SYS403", path), message(profile, "ResourceMissingAtURI", path)
    return errors(profile, 404, *pair)
