#!/bin/sh
# usage: draw.sh FOLDER NAME : FOLDER/NAME.png by the script FOLDER/NAME.gp
if command -v gnuplot >/dev/null; then
    cd "$1" && exec gnuplot "$2.gp"
fi
echo "no gnuplot here: '$1/$2.gp' draws '$2.png' where there is one" >&2
