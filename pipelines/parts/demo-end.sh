#!/bin/bash
# usage: demo-end.sh RUN BEGAN : prints results and files of the demo
echo
cat "$1/table.txt"
cat <<END

It took $(($(date +%s) - $2)) seconds.  In '$1':
  near.png       test images, each with the 8 labelled images that the encoder
                 finds nearest; green: of the same class
  sheet.png      images, each followed by two random views of it
  loss.png       how the loss fell
  table.txt      the above
  latest         the encoder, for foil-embed(1)
  compare/trained.jsonl  the full protocol of its row; so for raw14, raw28, untrained

With images of your own: FOLDER has them, of each class in a folder by that name
if they have classes:
  $(printf %q "$(type -P foil)") run fast FOLDER --minutes 10
END
