"""The algorithms of published papers, a file a paper and device: baselines for the engine.

Each is a function

    run(text, pattern, k) -> table

text: a Text of the device the function is for (`cpu.text.HostText`, `cuda.text.DeviceText`), whose
`masks`, uint8[n], hold a set of bases a letter, 0 where nothing matches; pattern: uint8[m], masks
too, in host memory, m ≤ n; a letter matches where the masks share a bit. k: int, the largest
distance asked for, 0 ≤ k ≤ m.

For mismatches the table has a place for each window, int32[n − m + 1], for differences one for each
end, int32[n] (an end is the last letter of an occurrence). It holds the distance there, or −1 where
that is more than k. A function for a panel takes patterns, uint8[r, m], and fills int32[r, n−m+1].

For primers it is run(target, background, k), both of them Texts, and the table, int32[n], has for
each letter of the target the length of the shortest primer that starts there, −1 where none does.

The table is made by `text.table(shape)`; arrays that kernels need beside the text come from
`text.put(array)` and `text.room(shape, dtype)`, and kernels run inside `with text.timed():`, which
is how their time is told apart from that of copies (in CUDA's `text.stream`). What depends on the
text alone is made once: `text.once(name, make)`.
"""
