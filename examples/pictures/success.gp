# What a right and a wrong answer are worth, against the share of right answers in a group of sixteen.
set multiplot layout 1, 2 title "Advantage in a group of 16 against the share of right answers"
set xlabel "share of right answers"
set yrange [0:16]
set ylabel "advantage"
set title "of a right answer" offset 0, -0.6
set key top right
plot for [k = 1:6] data."/success.txt" using 1:(column(2*k)) with lines ls k title columnheader(2*k)
set ylabel ""
set yrange [-6:0]
set title "of a wrong answer" offset 0, -0.6
set key off
plot for [k = 1:6] data."/success.txt" using 1:(column(2*k + 1)) with lines ls k
unset multiplot
