# Detached weights: what the gradient of a token weighs, for both signs of the advantage. Their values say nothing.
set multiplot layout 1, 2 title "Detached weights: CISPO, TOPR, ASPO beside REINFORCE\n" margins 0.07, 0.97, 0.12, 0.8 spacing 0.1, 0.1
set key off
set xlabel "log-ratio"
do for [sign in "positive negative"] {
    file = data."/weights_".sign.".txt"
    set title "advantage ".(sign eq "positive" ? "+1" : "-1").": d objective / d log-probability" offset 0, -0.6
    plot for [k = 1:4] file using 1:(column(2*k + 1)) with lines ls k title columnheader(2*k)
}
n = 4
step = 2
eval legend
unset multiplot
