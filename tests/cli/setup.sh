#!/usr/bin/env bash
# scripts/setup: what it installs, and its messages to users without permission; dpkg,
# apt-get, sudo and id are stubs.
# Not for sanitizers: only a script.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
setup=$(cd "${0%/*}/../../scripts" && pwd)/setup

# The only commands on PATH.
stubs=$work/stubs
mkdir "$stubs"
for command in bash env sed awk tr cat setsid flock; do
    ln -s "$(type -P "$command")" "$stubs"
done

# play COMMAND LINE : makes that command, a line of shell
play() {
    printf '#!/usr/bin/env bash\n%s\n' "$2" >"$stubs/$1"
    chmod 755 "$stubs/$1"
}

# set_up LIST... : runs setup without a terminal; $work/apt.log has the calls of apt-get
set_up() {
    : >"$work/apt.log"
    PATH=$stubs setsid -w "$setup" "$@" </dev/null
}

# apt_ran WORDS : apt-get was called with exactly these words
apt_ran() {
    cat "$work/apt.log"
    grep -qxF -- "$1" "$work/apt.log"
}

export work missing=' '
# shellcheck disable=SC2016 # for the stubs
play dpkg-query 'for name in "${@:4}"; do
    [[ $missing == *" $name "* ]] && none=1 || echo "installed $name"
done
exit "${none:-0}"'
# shellcheck disable=SC2016
play apt-get 'echo "$*" >>"$work/apt.log"
[[ $* == *" install "* ]] || exit 0
if [[ $* == *--print-uris* ]]; then
    [[ ! -e $work/broken ]] || { echo "E: no room" >&2; exit 100; }
    printf "%s\n" "\x27http://a/x.deb\x27 x.deb 2600000 MD5Sum:0" "\x27http://a/y.deb\x27 y.deb 1000 MD5Sum:1"
    exit
fi
echo "debconf: delaying package configuration, since" >&2
echo "dlstatus:1:20.5:Retrieving file 1 of 2"; [[ ! -e $work/broken ]] || { echo "E: no room" >&2; exit 100; }'
play id 'echo 0'

ok 'setup with all packages installed exits with 0' set_up demo test lint
ok 'setup with all packages installed prints nothing' test ! -s "$work/out"
ok 'setup with all packages installed does not call apt-get' test ! -s "$work/apt.log"

read -ra all < <(set_up none 2>&1 | sed 's/.*: there are //')
ok 'setup accepts every list' set_up "${all[@]}"
ok 'setup has at least eight lists' test "${#all[@]}" -ge 8

missing=' gcc gnuplot-nox shellcheck mandoc strace '
ok 'setup demo succeeds' set_up demo
ok 'setup demo prints the packages, their number and size, and nothing else' \
    cmp "$work/out" <(echo 'setup: installing 2 packages (2 to fetch, 3 MB): gcc gnuplot-nox')
ok 'setup demo installs no tools of tests and lint' \
    apt_ran '-qq install -y --no-install-recommends gcc gnuplot-nox'
ok 'setup test succeeds' set_up test
ok 'setup test installs packages of demo, but not of lint' apt_ran \
    '-qq install -y --no-install-recommends gcc gnuplot-nox strace mandoc'
ok 'setup lint test succeeds' set_up lint test
ok 'setup lint test names each package once' apt_ran \
    '-qq install -y --no-install-recommends gcc mandoc shellcheck gnuplot-nox strace'
on_terminal() {
    : >"$work/apt.log"
    PATH=$stubs /usr/bin/python3 "${0%/*}/terminal.py" 80 24 -- "$setup" demo >"$work/screen" &&
        grep 'setup: 20 %  Retrieving file 1 of 2' "$work/screen" &&
        apt_ran '-o APT::Status-Fd=1 -qq install -y --no-install-recommends gcc gnuplot-nox'
}
ok 'setup on a terminal prints its progress' on_terminal
touch "$work/broken"
ok 'setup exits with the code of apt-get' exits 100 set_up demo
ok 'setup prints the error of apt-get' grep -qx 'E: no room' "$work/out"
rm "$work/broken"
ok 'setup of an unknown list exits with 2' \
    refuses 2 "no list 'strace': there are .*lint" set_up strace

play id 'echo 1000'
ask='^setup: ask an administrator for: apt-get install'
ask+=' --no-install-recommends gcc gnuplot-nox$'
ok 'setup without root and sudo exits with 1 and prints what to install' \
    refuses 1 "$ask" set_up demo
ok 'setup without root and sudo prints one line' \
    test "$(wc -l <"$work/refuses.err")" -eq 1

# shellcheck disable=SC2016
play sudo '[[ $1 == -n ]] && shift; "$@"'
ok 'setup with sudo succeeds' set_up demo
ok 'setup with sudo installs the packages' \
    apt_ran '-qq install -y --no-install-recommends gcc gnuplot-nox'
play sudo 'echo "sudo: a password is required" >&2; exit 1'
ok 'setup with sudo that wants a password exits with 1' refuses 1 "$ask" \
    set_up demo
ok 'setup with sudo that wants a password prints one line' \
    test "$(wc -l <"$work/refuses.err")" -eq 1
ok 'setup with sudo that wants a password does not call apt-get' test ! -s "$work/apt.log"

rm "$stubs/apt-get" "$stubs/dpkg-query"
ok 'setup without apt-get exits with 1 and prints what is needed' \
    refuses 1 'no apt-get here; .* gcc libc6-dev make' set_up demo
done_testing
