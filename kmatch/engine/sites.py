"""Sites among hits: hits that are near one another are put into chains, and the best are taken.

The hits of a chain by the place of their PAM-side end, where alignments may have 2 insertions and
deletions:

    place           10  11  12      14  15      17      20
    differences      1   0   2       2   1       2       2
    taken                1st             2nd             3rd
    belongs to      11  11  11      15  15      15      20
"""

from kmatch.jit.kernels import kernel


@kernel
def join_chains(chains, hits, numbers, next_number):
    """Put hits into chains, and write their numbers; returns the number of the next chain.

    chains: CHAIN[G], the last chain of each group; hits: (group, first, last, reach), int64[n]
    each, see `kmatch.search.sites.Candidates`, `first` never decreasing; numbers: int64[n], filled
    here.
    """
    group, first, last, reach = hits
    for i in range(len(group)):
        chain = chains[group[i]]
        if first[i] > chain.last + reach[i]:
            chain.number = next_number
            chain.last = last[i]
            next_number += 1
        chain.last = max(chain.last, last[i])
        numbers[i] = chain.number
    return next_number


@kernel
def take_sites(bounds, preferred, hits, sites):
    """Take the best hits of chains, and write of each hit which site it belongs to.

    bounds: int64[C+1], of chains; preferred: int64[n], hits by chain, from the best to the worst;
    hits: (place, size, most_gaps), int64[n] each, sorted by chain and place, size being the letters
    of the circle that they are on; sites: int64[n], −1 throughout, filled with numbers of hits.
    """
    place, size, most_gaps = hits
    for chain in range(len(bounds) - 1):
        begin = bounds[chain]
        count = bounds[chain + 1] - begin
        for rank in range(begin, begin + count):
            site = preferred[rank]
            if sites[site] >= 0:
                continue
            sites[site] = site

            # Hits near it, on either side, belong to it where they belong to no better one.
            for direction in (-1, 1):
                for step in range(1, count):
                    hit = begin + (site - begin + direction * step) % count
                    apart = direction * (place[hit] - place[site]) % size[site]
                    if apart > most_gaps[site]:
                        break
                    if sites[hit] < 0:
                        sites[hit] = site
