"""Functions beside the objective, by subject: what is selected, what controls a step, credit, rewards, weights, the critic, the steps of
a sampler, distillation.

Each takes its arguments as fractions, and the batch first if it reads one, and returns {answer: numbers with their
sizes, flags or counts}. Rationals are exact; roots, powers and e^x have 60 digits. An argument that Python has as a word
of its own (`lambda`) comes in `more`. Beside each function stand its cases and its checks; registry.py has them all.
"""
from functions import (selection_tokens, selection_responses, selection_prompts, control_coefficients, control_trackers, control_clip,
                       credit_groups, credit_contrasts, credit_tokens, credit_steps, credit_shaping, rewards_length, rewards_groups,
                       rewards_responses, weights_tokens, weights_responses, critic, flow_schedules, flow_steps, flow_errors,
                       flow_mistakes, distill_divergence, distill_divergence_cases, distill_tokens, distill_groups, distill_mistakes)
from functions.registry import CHECKS, FUNCTIONS, all_cases, answers
