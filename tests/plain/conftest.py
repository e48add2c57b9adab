from support.plain import make_intrinsics_callable

make_intrinsics_callable()
