# A token that has become e times as probable among sixteen: what its gradient weighs, and that of the others, in each objective.
set multiplot layout 1, 2 title "One token of sixteen is e = 2.7 times as probable as before, the others have hardly moved:\nwhat their gradients weigh\n" \
    margins 0.16, 0.97, 0.12, 0.72 spacing 0.05, 0.1
set key at screen 0.5, 0.84 center vertical
set offsets 0, 0, 0, 0
set yrange [6.6:0.4]
set xlabel "dJ/d log pi of a token"
do for [sign in "positive negative"] {
    file = data."/outlier_".sign.".txt"
    names = system("head -1 ".file)
    set title "advantage ".(sign eq "positive" ? "+1" : "-1") offset 0, -0.6
    set xrange [sign eq "positive" ? -0.15 : -3.3 : sign eq "positive" ? 3.3 : 0.15]
    if (sign eq "positive") { set for [k = 1:6] ytics (word(names, k + 1) k) } else { set for [k = 1:6] ytics ("" k) }
    plot for [k = 1:6] file skip 1 using ($1 == 10 ? NaN : column(k + 1)):(k) with points ls 1 pt 6 ps 0.9 title \
             (k == 1 ? "the fifteen others" : ""), \
         for [k = 1:6] file skip 1 using ($1 == 10 ? column(k + 1) : NaN):(k) with points ls 2 dt 1 pt 9 ps 1.1 title \
             (k == 1 ? "the token that has moved" : "")
    set key off
}
unset multiplot
