#!/bin/sh
# Draws the pictures of this folder: curves.c computes the numbers by the headers, gnuplot draws the SVG files.
#   examples/pictures/draw.sh            writes the pictures, and inputs.txt: the checksum of the inputs of each
#   examples/pictures/draw.sh --check    checks that the inputs have not changed since; draws nothing, needs no gnuplot
set -eu
cd "$(dirname "$0")"
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
${CC:-cc} -std=c99 -O1 curves.c -lm -o "$data/curves"
mkdir "$data/numbers"
"$data/curves" "$data/numbers"
pictures="clips soft weights outlier kl success errors"
for picture in $pictures; do
    cat "$data/numbers/${picture%s}"*.txt style.gp "$picture.gp" | cksum | sed "s/\$/ $picture/"
done >"$data/inputs.txt"
if [ "${1:-}" = --check ]; then
    diff inputs.txt "$data/inputs.txt" || { echo "FAIL: a picture is not of these inputs: run examples/pictures/draw.sh"; exit 1; }
    ! grep -l "<title>Gnuplot" ./*.svg ../*.svg || { echo "FAIL: a picture has no title: run examples/pictures/draw.sh"; exit 1; }
    echo "$(echo $pictures | wc -w) passed, 0 failed"
    exit
fi
for picture in $pictures; do
    gnuplot -e "data='$data/numbers'; picture='$picture.svg'" style.gp -e "set output picture" "$picture.gp"
    title=$(sed -n "1s/^# //p" "$picture.gp")
    sed "s|<title>Gnuplot</title>|<title>$title</title>|" "$picture.svg" >"$data/titled" && cp "$data/titled" "$picture.svg"
done
cp "$data/inputs.txt" inputs.txt
