#!/bin/sh
# usage: samples.sh DATA : its number of samples
foil-data info "$1" | sed -n 's/^samples	//p'
