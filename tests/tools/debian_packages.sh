#!/bin/sh
# Install the Debian packages the tests need, only those missing: debian_packages.sh NAME...
# Not root, or no apt-get: say what is missing and go on; the tests that need it skip with a message.
set -eu
command -v dpkg-query >/dev/null || { echo "not Debian: the tests need, in its words, $*" >&2; exit 0; }
missing=
for name in "$@"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) || status=absent
  [ "$status" = installed ] || missing="$missing $name"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "missing Debian packages:$missing (run 'make setup' as root; tests that need them are skipped)" >&2
  exit 0
fi
echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086  # a list of names
apt-get install -y -qq --no-install-recommends $missing >/dev/null
# A judge of user-data here, never the one that sets this machine up at its next start.
case " $missing " in *" cloud-init "*) touch /etc/cloud/cloud-init.disabled ;; esac
