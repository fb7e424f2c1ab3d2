# Soft bounds: SAPO, VESPO, CFPO beside GRPO: what a token is worth, and what its gradient weighs, for both signs of the advantage.
set multiplot layout 2, 2 title "Soft bounds: SAPO, VESPO, CFPO beside GRPO\n" margins 0.1, 0.97, 0.12, 0.8 spacing 0.1, 0.2
set key off
set yrange [-3:3]
do for [sign in "positive negative"] {
    file = data."/soft_".sign.".txt"
    set ylabel sign eq "positive" ? "objective J of a token" : ""
    set title "advantage ".(sign eq "positive" ? "+1" : "-1").": objective" offset 0, -0.6
    plot for [k = 1:4] file using 1:(column(2*k)) with lines ls k title columnheader(2*k)
}
set xlabel "log-ratio"
do for [sign in "positive negative"] {
    file = data."/soft_".sign.".txt"
    set ylabel sign eq "positive" ? "dJ/d log pi" : ""
    set title "advantage ".(sign eq "positive" ? "+1" : "-1").": d objective / d log-probability" offset 0, -0.6
    plot for [k = 1:4] file using 1:(column(2*k + 1)) with lines ls k title columnheader(2*k)
}
n = 4
step = 2
eval legend
unset multiplot
