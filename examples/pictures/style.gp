# What the pictures share: colours that people with any sight tell apart (Okabe and Ito), thin frames, a light grid.
set terminal svg size 760, 520 font "sans,13" background "white" linewidth 1.4
set style line 1 lc rgb "#0072b2" lw 1.6
set style line 2 lc rgb "#d55e00" lw 1.6 dt 2
set style line 3 lc rgb "#009e73" lw 1.6 dt 4
set style line 4 lc rgb "#cc79a7" lw 1.6 dt 5
set style line 5 lc rgb "#555555" lw 1.6 dt 3
set style line 6 lc rgb "#e69f00" lw 1.6
set style line 9 lc rgb "#dddddd" lw 0.6
set border 3 lc rgb "#555555"
set tics nomirror
set grid ls 9
set key top left samplen 3 spacing 1.15
set autoscale fix
