/* Lesson 2: a clip stops the gradient, and only where it would move the policy further away.   Licence: MIT-0
 * J = min(w A, clip(w, 1 - eps, 1 + eps) A), w = pi/pi_old     PPO, arXiv 1707.06347, equation 7 */
#define GRPO_NO_ROWS
#define GRPO_IMPLEMENTATION
#include "../../grpo.h"
#include <stdio.h>

/* the size of the gradient */
static const char *bar(double x) { return &"################"[16 - (int)grpo_within(8 * fabs(x) + 0.5, 0, 16)]; }

int main(void) {
    const grpo_range range = grpo_clip_range(0.2, 0.2);
    printf("                 A = +1                         A = -1\n");
    printf(" ratio    objective   gradient          objective   gradient\n");
    for (int k = 4; k <= 20; k += 2) {
        const double w = k / 10.0;
        const grpo_term up = grpo_ppo_clip(grpo_ratio_of(log(w), 0), 1, range);        /* losses: minus the objective */
        const grpo_term down = grpo_ppo_clip(grpo_ratio_of(log(w), 0), -1, range);
        printf("  %3.1f   %8.2f   %6.2f %-10s %8.2f   %6.2f%s%s\n", w, -up.value, 0 - up.d_log_ratio, bar(up.d_log_ratio),
               -down.value, 0 - down.d_log_ratio, down.d_log_ratio == 0 ? "" : " ", bar(down.d_log_ratio));
    }
    return 0;
}
