"""The aggregation: means over the segments of a response."""
from cases import case_of
from checks.ratio_segments import ended, found
from checks.tools import near


def check_segment_means(check):
    o, batch = case_of("units", "seq_mean_segment_mean-entropy")
    now, plain = found(o, batch), {"kind": "seq_mean_token_mean"}
    for ends in (True, False):
        check(f"segments of one token, or one segment: the mean over tokens, {ends}",
              found(o, ended(batch, ends)) == found(o, ended(batch, ends), aggregation=plain) != now)
    H = o["penalty"]["entropy_coef"]
    check("the divisors of a response add up to 1/N", near([sum(row) for row in now["dentropy"]], [-H / 3] * 3))
    check("segments of one, two and one token: thirds of a third", near(now["dentropy"][0], [-H / 9, 0, -H / 18, -H / 18, -H / 9]))


GROUPS = (check_segment_means,)
