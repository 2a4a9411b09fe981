#!/bin/sh
# usage: connected.sh COMMAND...
#
# Runs a command, as ssh, whose standard input is open as long as it lives: at the far
# side it ends when the connection does.
set -eu
mkfifo "$RUN/input.$$"
exec 3<>"$RUN/input.$$"
rm "$RUN/input.$$"
exec "$@" <&3
