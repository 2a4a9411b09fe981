#!/bin/sh
# usage: until-closed.sh FOLDER COMMAND...
#
# Runs a command on another machine until it ends, is asked to end, or standard input
# ends, as it does when the connection is closed; in the last two cases FOLDER goes, too.
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
# as the command: foil-run restarts what a signal has killed
[ "$code" -le 128 ] || [ -n "$asked" ] || kill -"$((code - 128))" $$
exit "$code"
