# What a right and a wrong answer are worth, against the share of right answers in a group of sixteen.
set multiplot layout 1, 2 title "Advantage in a group of 16 against the share of right answers\n" \
    margins 0.1, 0.97, 0.12, 0.78 spacing 0.12, 0.1
set key off
set xlabel "share of right answers"
set offsets 0, 0, 0, 0
set logscale y
set yrange [0.05:20]
set ytics ("1/16" 0.0625, "1/8" 0.125, "1/4" 0.25, "1/2" 0.5, 1, 2, 4, 8, 15)
set ylabel "advantage"
set title "of a right answer, a logarithmic scale" offset 0, -0.6
plot for [k = 1:6] data."/success.txt" using 1:(column(2*k)) with lines ls k title columnheader(2*k)
unset logscale y
set ylabel ""
set yrange [-4:0.2]
set ytics autofreq
set title "of a wrong answer" offset 0, -0.6
plot for [k = 1:6] data."/success.txt" using 1:(column(2*k + 1)) with lines ls k title columnheader(2*k)
file = data."/success.txt"
n = 6
step = 2
eval legend
unset multiplot
