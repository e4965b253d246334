#!/bin/sh
# Print the interpreters of the asked versions that really start, one a line: find_python.sh 3.13 3.12 3.11
# A name on PATH may be a version manager's shim that only prints an error, so each one is tried; then the
# versions that pyenv keeps beside it.
for version in "$@"; do
  for candidate in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
    found=$(command -v "$candidate" 2>/dev/null) || continue
    if "$found" -c "import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != tuple(map(int, '$version'.split('.'))))" \
      2>/dev/null; then
      echo "$found"
      break
    fi
  done
done
