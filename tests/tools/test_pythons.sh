#!/bin/sh
# The quick suite on every supported Python that is installed, each in a venv of its own (.venv-3.12, ...).
set -eu
here=$(dirname "$0")
tested=
for version in 3.11 3.12 3.13; do
  python=$("$here/find_python.sh" "$version")
  if [ -z "$python" ]; then
    echo "python $version: not installed, not tested" >&2
    continue
  fi
  echo "== python $version: $python"
  make --no-print-directory test PYTHON="$python" VENV=".venv-$version"
  tested="$tested $version"
done
[ -n "$tested" ] || { echo "no supported Python found" >&2; exit 1; }
echo "tested on:$tested"
