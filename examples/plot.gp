# Reward and clipped share of the tokens over the steps, from the logs of train.c:
#
#     for o in grpo gspo cispo; do ./train --objective $o --log $o.csv; done
#     gnuplot -e "names='grpo gspo cispo'" examples/plot.gp        writes training.png
#
# Each name is a file name.csv in the current folder.

if (!exists("names")) names = "gspo"
set datafile separator comma
set terminal pngcairo size 900, 700
set output "training.png"
set key bottom right
set grid
set xlabel "step"

set multiplot layout 2, 1
set yrange [0:1.02]
set ylabel "mean reward"
plot for [n in names] n.".csv" skip 1 using 1:2 with lines lw 2 title n

set yrange [0:*]
set key top right
set ylabel "clipped tokens, %"
plot for [n in names] n.".csv" skip 1 using 1:(100*$4) with lines lw 2 title n
unset multiplot
