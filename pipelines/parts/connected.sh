#!/bin/sh
# usage: connected.sh COMMAND...
#
# Runs a command, such as ssh, with an open standard input: at the far side that input
# ends with the connection.
set -eu
mkfifo "$RUN/input.$$"
exec 3<>"$RUN/input.$$"
rm "$RUN/input.$$"
exec "$@" <&3
