"""One file a problem: queries, chunks and hits. Devices are the engine's business."""
