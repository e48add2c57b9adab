"""The packed genome: the format, its writer and reader, and its chunks."""
