#!/usr/bin/env python3
"""clones: inspects the machine code of each kernel that is compiled three times.

usage: tests/clones.py [--check] [LIBRARY]     build/release/libfoil.a

Prints a line for each clone (include/util/clones.h): the number of its instructions,
of vector and of scalar arithmetic instructions, and of instructions that extract or
insert single elements of a vector.  --check prints only faults, and exits with 1 if
there are any: a clone for AVX2 with more than a few element instructions, or without
vector instructions where the clone for AVX-512 has them.
"""
import re
import subprocess
import sys

MOST = 8  # element instructions in a clone
APART = re.compile(r'v?(pextr[bwdq]|pinsr[bwdq]|insertps|extractps)$')
VECTOR = re.compile(r'v?(add|sub|mul|div|max|min|sqrt|cmp\w*|f\w+|cvt\w+)p[sd]$'
                    r'|v?p(add|sub|mul|max|min|cmp|sll|srl|sra|and|or|xor|avg|mad)\w*$')
SCALAR = re.compile(r'v?(add|sub|mul|div|max|min|sqrt|cmp\w*|f\w+|cvt\w+)s[sd]$')


def clones(library):
    """(file, kernel): {level: [instructions, vector, scalar, apart]}"""
    found, row = {}, None
    text = subprocess.run(['objdump', '-d', '--no-show-raw-insn', library],
                          check=True, capture_output=True, text=True).stdout
    name = ''
    for line in text.splitlines():
        if line.endswith(':     file format elf64-x86-64'):
            name = line.split('.o:')[0]
        elif line.endswith('>:'):
            part = re.search(r'<(\w+)_(v[134])[.\w]*>:$', line)
            row = None
            if part:
                levels = found.setdefault((name, part[1]), {})
                row = levels.setdefault(part[2], [0, 0, 0, 0])
        elif row is not None and '\t' in line:
            word = line.split('\t')[1].split()[0]
            for i, kind in enumerate((re.compile(''), VECTOR, SCALAR, APART)):
                row[i] += bool(kind.match(word))
    return {key: of for key, of in found.items() if len(of) == 3}


def wrong(levels):
    """The fault of the clone for AVX2, or ''."""
    _, vector, _, apart = levels['v3']
    if apart > MOST and apart > 2 * levels['v4'][3]:
        return f'takes vectors apart: {apart} instructions'
    if levels['v4'][1] > 4 and vector <= 1:
        return 'has no vectors, where AVX-512 has them'
    return ''


def main():
    words = sys.argv[1:]
    check = '--check' in words
    words = [word for word in words if word != '--check']
    found = clones(words[0] if words else 'build/release/libfoil.a')
    bad = 0
    if not check:
        print(f'{"file":14} {"kernel":26} clone  instr vector scalar  apart')
    for key in sorted(found):
        why = wrong(found[key])
        if not check:
            for level in ('v1', 'v3', 'v4'):
                print(f'{key[0]:14} {key[1]:26} {level}    '
                      + ' '.join(f'{n:6}' for n in found[key][level]))
        if why:
            bad += 1
            print(f'clones: {key[0]}.c: {key[1]}() {why}', file=sys.stderr)
    if not found:
        sys.exit('clones: the library has no clones')
    sys.exit(bad > 0)


main()
