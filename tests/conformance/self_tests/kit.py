"""Where the parts of the kit are, and the checks of ../../support/counting.py."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KIT = os.path.dirname(HERE)                 # adapters, profiles, results, the runner
ADAPTERS = os.path.join(KIT, "adapters")
sys.path.append(os.path.join(os.path.dirname(KIT), "support"))

from counting import attempt, check, checked, count  # noqa: E402, F401
