# The usual formulas in 32 bits and these headers: the worst error found, in ulps of the right answer.
set terminal svg size 760, 760 font "sans,13" background "white" linewidth 1.4
set output picture
set multiplot layout 3, 1 title "Worst error in ulps of a 32-bit float" margins 0.09, 0.97, 0.08, 0.94 spacing 0.1, 0.1
set logscale xy
set format x "10^{%L}"
set format y "10^{%L}"
set key top right
set ytics 1000
set yrange [0.3:1e13]
set xlabel "k3 of two log-probabilities that are so far apart" offset 0, 0.4
plot for [k = 1:3] data."/error_k3.txt" using 1:(column(k + 1)) with lines ls k title columnheader(k + 1)
set key top left
set ytics 10
set yrange [0.3:1000]
set xlabel "GSPO's ratio of a response of so many tokens" offset 0, 0.4
plot for [k = 1:3] data."/error_mean.txt" using 1:(column(k + 1)) with lines ls k title columnheader(k + 1)
set key at graph 0.97, 0.5 right top
set ytics 100
set yrange [0.3:1e8]
set xlabel "advantage of rewards between this number and one more" offset 0, 0.4
plot for [k = 1:3] data."/error_advantage.txt" using 1:(column(k + 1)) with lines ls k title columnheader(k + 1)
unset multiplot
