# Reward and clipped share of the tokens over the steps, means of ten, from the logs of train.c. The picture of the README:
#
#     for o in grpo gspo cispo; do ./train --objective $o --log $o.csv; done
#     gnuplot -e "names='grpo gspo cispo'; picture='examples/learning.svg'" examples/plot.gp
#
# Each name is a file name.csv in the current folder; the picture is .svg or .png. Colours and dashes are those of pictures/style.gp. The
# clipped share has a logarithmic scale, as objectives differ by factors of a hundred; what is below 0.01 % is drawn at 0.

if (!exists("names")) names = "gspo"
if (!exists("picture")) picture = "training.svg"
svg = picture[strlen(picture) - 3:] ne ".png"
if (svg) set terminal svg size 760, 560 font "sans,14" background "white"; else set terminal pngcairo size 760, 560
titled = "s|<title>Gnuplot</title>|<title>Reward and clipped tokens over the steps: ".names."</title>|"
set output svg ? "| sed '".titled."' >'".picture."'" : picture
set datafile separator comma
set tmargin 1
set bmargin 3
set lmargin 9
set border 3 lc rgb "#555555"
set tics nomirror
set grid lc rgb "#dddddd"
array colour[6] = ["#0072b2", "#d55e00", "#009e73", "#b85c93", "#555555", "#b88000"]
set for [k = 1:6] linetype k lc rgb colour[k] lw 2
set linetype 1 dt 1
set linetype 2 dt 2
set linetype 3 dt 4
set linetype 4 dt 5
set linetype 5 dt 3
set linetype 6 dt (22, 7)

set multiplot layout 2, 1
set key bottom right samplen 5
set yrange [-0.03:1.03]
set ytics 0.2
set ylabel "mean reward"
plot for [k = 1:words(names)] word(names, k).".csv" skip 1 using (10*ceil($1/10)):2 smooth unique with lines lt k title word(names, k)

set key top right
set logscale y
set yrange [0.004:100]
set ytics ("0" 0.005, "0.01" 0.01, "0.1" 0.1, "1" 1, "10" 10, "100" 100)
set xlabel "step"
set ylabel "clipped tokens, %"
mean(name) = sprintf("< awk -F, 'NR > 1 { s += $4; if (++n %% 10 == 0) { print $1 \",\" (s < 1e-3 ? 0.005 : 10*s); s = 0 } }' \
    '%s.csv'", name)
plot for [k = 1:words(names)] mean(word(names, k)) using 1:2 with lines lt k title word(names, k)
unset multiplot
