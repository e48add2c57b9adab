"""Words of 64 lanes: logic, counters, and where hit codes go."""
