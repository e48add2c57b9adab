"""Every search once on a tiny genome, in several processes, so that all kernels are compiled."""
