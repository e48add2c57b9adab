"""Sites of primers that face each other, found in compiled code: repeats have millions of them."""

from kmatch.jit import kernel


@kernel
def _is_product(line, first, last, limits):
    """Whether a site on `+` and one on `-`, which starts no further left, make a product."""
    starts, ends = line
    length = ends[last] - starts[first]
    return ends[last] >= ends[first] and limits[0] <= length <= limits[1]


@kernel
def count_products(line, plus, minus, limits, found):
    """Count the products of each site on `+`, by two pointers per group.

    line: starts and ends of all sites, int64; plus: (sites, the group that each is joined to),
    int64[n], by start; minus: (sites, int64, by group and start, bounds of the groups); limits:
    (least, most); found: (low, count), int64[n], filled here: where in its group a site's partners
    begin, and how many products there are.
    """
    starts, _ = line
    sites, groups = plus
    others, bounds = minus
    low, count = found
    pointers = bounds[:-1].copy()
    for i in range(len(sites)):
        start, last = starts[sites[i]], bounds[groups[i] + 1]
        at = pointers[groups[i]]
        while at < last and starts[others[at]] < start:
            at += 1
        pointers[groups[i]] = low[i] = at
        products = 0
        while at < last and starts[others[at]] < start + limits[1]:
            products += _is_product(line, sites[i], others[at], limits)
            at += 1
        count[i] = products


@kernel
def write_products(line, plus, minus, limits, low, rows):
    """Write the products that `count_products` counted.

    low: see `count_products`; rows: (on `+`, on `-`), int64[n], filled here.
    """
    starts, _ = line
    sites, groups = plus
    others, bounds = minus
    first, second = rows
    written = 0
    for i in range(len(sites)):
        at, last = low[i], bounds[groups[i] + 1]
        end = starts[sites[i]] + limits[1]
        while at < last and starts[others[at]] < end:
            if _is_product(line, sites[i], others[at], limits):
                first[written], second[written] = sites[i], others[at]
                written += 1
            at += 1
