"""The algorithms of published papers, one file a paper and device: baselines for the engine.

Each algorithm is a function

    run(text, pattern, k, table)

text: masks, uint8[n], a set of bases a letter, 0 where nothing matches; on CUDA a `DeviceText`.
pattern: masks, uint8[m], in host memory, m ≤ n; two letters match if their masks share a bit. k:
int, the largest distance wanted, 0 ≤ k ≤ m.

The table, on the function's device, has an entry for each window of the text (mismatches,
int32[n − m + 1]) or for each end, the last letter of an occurrence (differences, int32[n]), which
receives the distance, or −1 where it exceeds k. A function for a panel takes patterns,
uint8[r, m], and fills int32[r, n − m + 1].

One that the registry names `threaded` takes the Workers that share it as a last argument.

For primers the function is run(target, background, k, table), both of them texts, and the table,
int32[n], receives for each letter of the target the length of the shortest primer from there on,
−1 for none.
"""
