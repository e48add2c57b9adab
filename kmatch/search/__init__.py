"""One file a problem: checks, strands, chunks and hits. Devices are the engine's business."""
