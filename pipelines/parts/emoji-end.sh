#!/bin/sh
# usage: emoji-end.sh RUN BEGAN : prints results and files
echo
cat "$1/table.txt"
cat <<END

It took $(($(date +%s) - $2)) seconds.  In '$1':
  sheet.png      new drawings with the names that they found, and the reverse
  table.txt      the above
  latest         the encoders, for foil-embed(1)
  drawing.jsonl  the full protocol of new drawings; concept.jsonl, of new concepts

The drawings are Noto's (Apache-2.0) and EmojiOne's (CC-BY-SA-4.0), from Debian's
packages ruby-tanuki-emoji and ruby-gemojione.
END
