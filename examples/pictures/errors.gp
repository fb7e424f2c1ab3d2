# The usual formulas in 32 bits and in double, and these headers: the worst relative error found.
set terminal svg size 760, 860 font "sans,14" background "white" linewidth 1.4
set output picture
set multiplot layout 3, 1 title "Worst relative error; 6e-8 is a float's rounding, at 1 no digit is right" \
    margins 0.13, 0.97, 0.07, 0.94 spacing 0.1, 0.1
set logscale xy
set offsets 0, 0, 0, 0
set format x "10^{%L}"
set format y "10^{%L}"
set ylabel "relative error"
set key top right
set ytics 1000
set yrange [1e-8:1e7]
set xlabel "k3 of two log-probabilities that are so far apart" offset 0, 0.4
plot for [k = 1:4] data."/error_k3.txt" using 1:(column(k + 1)) with lines ls k title columnheader(k + 1)
set key at graph 0.03, 0.97 left top
set ytics 10
set yrange [1e-8:1e-2]
set xlabel "GSPO's ratio of a response of so many tokens" offset 0, 0.4
set arrow 1 from graph 0, first 3e-4 to graph 1, first 3e-4 nohead lc rgb "#777777"
set label 1 "GSPO's clip range" at graph 0.99, first 6e-4 right textcolor rgb "#555555"
plot for [k = 1:4] data."/error_mean.txt" using 1:(column(k + 1)) with lines ls k title columnheader(k + 1)
unset arrow 1
unset label 1
set ytics 1000
set yrange [1e-8:1e7]
set xlabel "advantage of rewards between this number and one more" offset 0, 0.4
plot for [k = 1:4] data."/error_advantage.txt" using 1:(column(k + 1) < 1e7 ? column(k + 1) : 1e7) with lines ls k title columnheader(k + 1)
unset multiplot
