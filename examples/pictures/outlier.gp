# One response of 16 tokens, one of which has moved by a factor e: what each token's gradient weighs.
set multiplot layout 2, 1 title "One outlier among sixteen tokens: weight of each token's gradient\n" margins 0.07, 0.97, 0.14, 0.8 spacing 0.1, 0.2
set style data linespoints
set xtics 1
set key at screen 0.5, 0.9 center horizontal maxrows 2 font ",11" samplen 2
do for [sign in "positive negative"] {
    file = data."/outlier_".sign.".txt"
    set title "advantage ".(sign eq "positive" ? "+1: GRPO drops the token, GSPO the response, CISPO neither" : "-1: GRPO and CISPO weigh it 2.7 times, GSPO and GMPO as the others") offset 0, -0.6
    set xlabel sign eq "negative" ? "token" : ""
    set offsets 0, 0, 0.2, 0.2
    plot for [k = 1:6] file using 1:(column(k + 1)) ls k pt (k + 3) ps 0.5 title columnheader(k + 1)
    set key off
}
unset multiplot
