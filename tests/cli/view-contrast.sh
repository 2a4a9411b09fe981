#!/usr/bin/env bash
# What the page of foil-view computes from embeddings, in a browser: cosines, the most
# similar pairs, weights of negatives.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
here=$(cd "${0%/*}" && pwd)
if ! command -v chromium >/dev/null; then
    skip 'what the page computes' 'no chromium'
else
    pass_on /usr/bin/python3 "$here/view_contrast.py" \
        "$here/../../tools/foil-view/page/contrast.js"
fi
done_testing
