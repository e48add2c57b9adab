"""Items of work as kernels take them; see `kmatch.engine.workers`."""

from numba import types
from numba.extending import intrinsic

from kmatch.jit.kernels import kernel


@intrinsic
def fetch_add(typingctx, array, index, amount):
    """Add to array[index] of a flat int64 array atomically; returns the number before."""

    def build(context, builder, signature, arguments):
        kind = signature.args[0]
        data = context.make_array(kind)(context, builder, arguments[0]).data
        offset = context.cast(builder, arguments[1], signature.args[1], types.int64)
        number = context.cast(builder, arguments[2], signature.args[2], types.int64)
        address = builder.gep(data, [offset])
        return builder.atomic_rmw("add", address, number, "monotonic")

    return types.int64(array, index, amount), build


@kernel
def next_item(work):
    """The next item of work, −1 when none is left."""
    item = fetch_add(work, 0, 1)
    return item if item < work[1] else -1
