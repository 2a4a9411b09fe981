#!/bin/sh
# usage: samples.sh DATA : how many it has
foil-data info "$1" | sed -n 's/^samples	//p'
