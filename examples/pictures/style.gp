# What the pictures share: colours that people with any sight tell apart (after Okabe and Ito, two of them darker), dashes that tell the
# lines apart without colour, thin frames, a light grid, room between the curves and the frame.
set terminal svg size 760, 560 font "sans,14" background "white" linewidth 1.4
set style line 1 lc rgb "#0072b2" lw 1.6
set style line 2 lc rgb "#d55e00" lw 1.6 dt 2
set style line 3 lc rgb "#009e73" lw 1.6 dt 4
set style line 4 lc rgb "#b85c93" lw 1.6 dt 5
set style line 5 lc rgb "#555555" lw 1.6 dt 3
set style line 6 lc rgb "#b88000" lw 1.6 dt (22, 7)
set style line 9 lc rgb "#dddddd" lw 0.6
set border 3 lc rgb "#555555"
set tics nomirror
set grid ls 9
set key top left samplen 5 spacing 1.15
set autoscale fix
set offsets 0, 0, graph 0.05, graph 0.05
# a line of names over all panels, which plots nothing: `file` has the names of n curves, one in every `step` columns
legend = 'unset border; unset tics; unset xlabel; unset ylabel; unset title; unset logscale; set xrange [0:1]; set yrange [0:1]; \
    set lmargin at screen 0.02; set rmargin at screen 0.98; set bmargin at screen 0.85; set tmargin at screen 0.93; \
    set key on; set key inside center center horizontal maxrows 1 samplen 4 width 1; \
    plot for [k = 1:n] file using 1:(1/0) with lines ls k title columnheader(step*k)'
