#!/bin/sh
# usage: until-closed.sh FOLDER COMMAND...
#
# Runs a command on another machine until it ends, gets SIGTERM, or standard input
# ends, when the connection is closed; in the last two cases removes FOLDER, too.
folder=$1
shift
exec 3<&0
"$@" </dev/null &
child=$!
# shellcheck disable=SC2162 # nothing is read
{ read _ <&3; kill -HUP $$; } 2>/dev/null &
watcher=$!
asked=
trap 'asked=yes; kill "$child" 2>/dev/null' HUP INT TERM
code=0
while wait "$child"; code=$?; kill -0 "$child" 2>/dev/null; do
    continue
done
kill "$watcher" 2>/dev/null
[ -z "$asked" ] || rm -rf "$folder"
# like the command: foil-run restarts processes that a signal has killed
[ "$code" -le 128 ] || [ -n "$asked" ] || kill -"$((code - 128))" $$
exit "$code"
