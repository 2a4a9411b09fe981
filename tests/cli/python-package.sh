#!/usr/bin/env bash
# foil.py as a package: pip installs it without a network, and it finds tools and library.
# Not for sanitizers: python.sh has its functions.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
root=$(cd "${0%/*}/../.." && pwd)
export PATH=$BIN:/usr/bin:$PATH PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONPATH LIBFOIL
if ! has_python numpy setuptools wheel ensurepip; then
    skip 'a package of Python' 'no python3-venv, python3-setuptools or python3-wheel'
    done_testing
    exit
fi
cd "$work" || exit
cp -r "$root/pipelines" . # pip leaves files of the build there
ok 'a virtual environment' python3 -m venv --system-site-packages there
ok 'pip installs the package without a network' \
    there/bin/pip install --no-build-isolation ./pipelines/python
installed() {
    there/bin/python -c "import foil, importlib.metadata
$1"
}
ok 'it is in the environment, with the version of the tools' installed "
assert foil.__file__.startswith('$work/there/'), foil.__file__
version = '$(foil-train --version)'.split()[-1]
assert version == foil.__version__ == importlib.metadata.version('foil'), version"
ok 'each public name has a docstring' installed '
for name in foil.__all__:
    assert name == "answers" or getattr(foil, name).__doc__, name
exec("from foil import *")
assert {*foil.__all__} <= {*globals()}'
[[ ! -e $BIN/../libfoil.so.1 ]] || ok 'it finds the library of the tools on PATH' \
    installed 'assert "simclr" in foil.objectives()'
foil-data generate --size 8 -o d.tar 24 2>/dev/null
foil-data index d.tar 2>/dev/null
ok 'it finds the tools' installed 'assert sum(map(len, foil.views("d.tar", size=8))) == 24'
ok 'pip uninstalls it' there/bin/pip uninstall -y foil
done_testing
