# Reward and clipped share of the tokens over the steps, means of five, from the logs of train.c. The picture of the README:
#
#     for o in grpo gspo cispo; do ./train --objective $o --log $o.csv; done
#     gnuplot -e "names='grpo gspo cispo'; picture='examples/learning.svg'" examples/plot.gp
#
# Each name is a file name.csv in the current folder; the picture is .svg or .png.

if (!exists("names")) names = "gspo"
if (!exists("picture")) picture = "training.svg"
if (picture[strlen(picture) - 3:] eq ".png") set terminal pngcairo size 720, 520; else set terminal svg size 720, 520 font "sans,13" background "white"
set output picture
set datafile separator comma
set tmargin 1
set bmargin 3
set lmargin 9
array colour[5] = ["#d95f02", "#1b6ca8", "#4a9c3f", "#7b5ea7", "#555555"]

set multiplot layout 2, 1
set key bottom right
set yrange [0:1.02]
set ylabel "mean reward"
plot for [k = 1:words(names)] word(names, k).".csv" skip 1 using (5*ceil($1/5)):2 smooth unique \
    with lines lw 2 lc rgb colour[(k - 1) % 5 + 1] title word(names, k)

set key top right
set yrange [0:*]
set xlabel "step"
set ylabel "clipped tokens, %"
plot for [k = 1:words(names)] word(names, k).".csv" skip 1 using (5*ceil($1/5)):(100*$4) smooth unique \
    with lines lw 2 lc rgb colour[(k - 1) % 5 + 1] title word(names, k)
unset multiplot
