#!/bin/sh
# Copies phasm from this folder to PREFIX/bin: ~/.local/bin unless PREFIX is set.
set -eu
from=$(cd "$(dirname "$0")" && pwd)
prefix=${PREFIX:-$HOME/.local}
mkdir -p "$prefix/bin"
# A new file and a rename, so that a phasm that runs is not written to.
cp "$from/phasm" "$prefix/bin/.phasm.new"
chmod 755 "$prefix/bin/.phasm.new"
mv -f "$prefix/bin/.phasm.new" "$prefix/bin/phasm"
echo "installed $prefix/bin/phasm"
case ":$PATH:" in
  *":$prefix/bin:"*) ;;
  *) echo "add $prefix/bin to your PATH" ;;
esac
