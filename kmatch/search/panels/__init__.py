"""What is searched for: patterns as queries, their repeats, distances, PAMs and checks."""
