"""Functions that are used beside an objective, by subject: selection, control, credit, rewards, weights, critic, flow, distillation.

Each takes the batch first if it reads one, then its arguments as fractions, and returns {answer: numbers with their sizes, flags or
counts}. Rationals are exact; roots, powers and e^x have 60 digits. Arguments whose name is a Python keyword (`lambda`) are in `more`. The
cases and checks of a function are in the same file; registry.py collects them.
"""
from functions import (selection_tokens, selection_responses, selection_prompts, control_coefficients, control_trackers, control_clip,
                       credit_groups, credit_contrasts, credit_tokens, credit_steps, credit_shaping, rewards_length, rewards_groups,
                       rewards_responses, weights_tokens, weights_responses, critic, flow_schedules, flow_steps, flow_errors,
                       flow_mistakes, distill_divergence, distill_divergence_cases, distill_tokens, distill_groups, distill_mistakes)
from functions.registry import CHECKS, FUNCTIONS, all_cases, answers
