#!/usr/bin/perl
# The softmax of the similarities.  foil-negatives --weigh-command 'perl weigh.pl'
use strict;
use warnings;
$| = 1;
while (<STDIN>) {
    my %o = map { split /=/ } (split)[1 .. 10];
    my ($columns, $dims) = @o{qw(columns dims)};
    open my $file, '+<:raw', $ENV{FOIL_MEMORY} or die "$ENV{FOIL_MEMORY}: $!";
    sysread $file, my $memory, $o{owner} + 8 * $columns;
    my @owner = unpack "q$columns", substr $memory, $o{owner};
    my @z = map { [unpack "f$dims", substr $memory, $o{z} + 4 * $dims * $_] } 0 .. $columns - 1;
    my $weights = '';
    for my $row (0 .. $o{rows} - 1) {
        my @e = map { $owner[$row] == $owner[$_] ? 0 : exp($o{beta} * (dot($z[$row], $z[$_]) - 1)) } 0 .. $columns - 1;
        my $sum = 0;
        $sum += $_ for @e;
        $weights .= pack 'f*', map { $_ / $sum } @e;
    }
    sysseek $file, 0, 0;
    syswrite $file, $weights;
    print "ok\n";
}
sub dot { my ($x, $y) = @_; my $s = 0; $s += $x->[$_] * $y->[$_] for 0 .. $#$x; return $s }
