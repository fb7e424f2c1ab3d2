# Estimators of the KL divergence to the reference, and their gradients.
set multiplot layout 1, 2 title "Estimators of KL(policy || reference) from one sample; D is the log-probability less that of the reference"
set xlabel "D"
set yrange [-2:4]
set ylabel "nats"
set title "estimate" offset 0, -0.6
set key top center
plot for [k = 1:4] data."/kl.txt" using 1:(column(2*k)) with lines ls k title columnheader(2*k)
set ylabel ""
set title "d estimate / d log-probability" offset 0, -0.6
set key off
plot for [k = 1:4] data."/kl.txt" using 1:(column(2*k + 1)) with lines ls k title columnheader(2*k)
unset multiplot
