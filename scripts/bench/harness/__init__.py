"""What the measurements share: options, workloads, processes, records, and Sassy's hits."""
