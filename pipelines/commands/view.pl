#!/usr/bin/perl
# The image shrunk or enlarged, every second view mirrored.
# foil-augment --view-command 'perl view.pl'
use strict;
use warnings;
$| = 1;
while (<STDIN>) {
    my %o = map { split /=/ } (split)[1 .. 4];
    open my $file, '+<:raw', $ENV{FOIL_MEMORY} or die "$ENV{FOIL_MEMORY}: $!";
    sysread $file, my $memory, $o{bytes};
    my ($views, $size) = ('', $o{size});
    for my $row (0 .. $o{rows} - 1) {
        my ($at, $height, $width, $sample, $seed) =
            unpack 'q<5', substr $memory, $o{table} + 40 * $row, 40;
        for my $i (0 .. $size * $size - 1) {
            my ($y, $x) = (int($i / $size), $i % $size);
            $x = $size - 1 - $x if $seed % 2;
            my $pixel = int($y * $height / $size) * $width + int($x * $width / $size);
            $views .= substr $memory, $at + 3 * $pixel, 3;
        }
    }
    sysseek $file, 0, 0;
    syswrite $file, $views;
    print "ok\n";
}
