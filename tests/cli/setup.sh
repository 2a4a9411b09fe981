#!/usr/bin/env bash
# What scripts/setup installs, and what it tells who may not: dpkg, apt-get, sudo
# and id are played.
# Not for sanitizers: a script alone.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
setup=$(cd "${0%/*}/../../scripts" && pwd)/setup

# The only commands that there are.
stubs=$work/stubs
mkdir "$stubs"
for command in bash env sed awk tr cat setsid flock; do
    ln -s "$(type -P "$command")" "$stubs"
done

# play COMMAND LINE : that command is this line of shell
play() {
    printf '#!/usr/bin/env bash\n%s\n' "$2" >"$stubs/$1"
    chmod 755 "$stubs/$1"
}

# set_up LIST... : without a terminal; what apt-get was told is in $work/told
set_up() {
    : >"$work/told"
    PATH=$stubs setsid -w "$setup" "$@" </dev/null
}

# told WORDS : one call of apt-get had exactly these
told() {
    cat "$work/told"
    grep -qxF -- "$1" "$work/told"
}

export work missing=' '
# shellcheck disable=SC2016 # for the stubs
play dpkg-query 'for name in "${@:4}"; do
    [[ $missing == *" $name "* ]] && none=1 || echo "installed $name"
done
exit "${none:-0}"'
# shellcheck disable=SC2016
play apt-get 'echo "$*" >>"$work/told"
[[ $* == *" install "* ]] || exit 0
echo "debconf: delaying package configuration, since" >&2
echo "dlstatus:1:20.5:Retrieving file 1 of 2"; [[ ! -e $work/broken ]] || { echo "E: no room" >&2; exit 100; }'
play id 'echo 0'

ok 'nothing is missing' set_up demo test lint
ok 'nothing is said' test ! -s "$work/out"
ok 'nothing is asked of apt-get' test ! -s "$work/told"

read -ra all < <(set_up none 2>&1 | sed 's/.*: there are //')
ok 'every list that there is' set_up "${all[@]}"
ok 'which are some' test "${#all[@]}" -ge 8

missing=' gcc gnuplot-nox shellcheck mandoc strace '
ok 'the demo' set_up demo
ok 'how many packages is said, and no more' \
    cmp "$work/out" <(echo 'setup: installing 2 packages: gcc gnuplot-nox')
ok 'wants no tools of tests and lint' \
    told '-qq install -y --no-install-recommends gcc gnuplot-nox'
ok 'the tests' set_up test
ok 'want what the demo wants, but not what lint does' told \
    '-qq install -y --no-install-recommends gcc gnuplot-nox strace mandoc'
ok 'lint and tests' set_up lint test
ok 'name no package twice' told '-qq install -y --no-install-recommends gcc mandoc shellcheck gnuplot-nox strace'
on_terminal() {
    : >"$work/told"
    PATH=$stubs /usr/bin/python3 "${0%/*}/terminal.py" 80 24 -- "$setup" demo >"$work/screen" &&
        grep 'setup: 20 %  Retrieving file 1 of 2' "$work/screen" &&
        told '-o APT::Status-Fd=1 -qq install -y --no-install-recommends gcc gnuplot-nox'
}
ok 'on a terminal it is said how far it is' on_terminal
touch "$work/broken"
ok 'an apt-get that fails: its code, and its words' exits 100 set_up demo
ok 'and its words' grep -qx 'E: no room' "$work/out"
rm "$work/broken"
ok 'no list: 2' refuses 2 "no list 'strace': there are .*lint" set_up strace

play id 'echo 1000'
ask='^setup: ask an administrator for: apt-get install'
ask+=' --no-install-recommends gcc gnuplot-nox$'
ok 'a user without sudo: 1, and what to ask for' refuses 1 "$ask" set_up demo
ok 'in one line' test "$(wc -l <"$work/refuses.err")" -eq 1

# shellcheck disable=SC2016
play sudo '[[ $1 == -n ]] && shift; "$@"'
ok 'with sudo' set_up demo
ok 'it is installed' \
    told '-qq install -y --no-install-recommends gcc gnuplot-nox'
play sudo 'echo "sudo: a password is required" >&2; exit 1'
ok 'sudo that wants a password, and no terminal: 1' refuses 1 "$ask" \
    set_up demo
ok 'in one line' test "$(wc -l <"$work/refuses.err")" -eq 1
ok 'nothing was asked of apt-get' test ! -s "$work/told"

rm "$stubs/apt-get" "$stubs/dpkg-query"
ok 'another system: 1, and what is needed' \
    refuses 1 'no apt-get here; .* gcc libc6-dev make' set_up demo
done_testing
