"""What tests share: cases, ways to run kmatch, and how hits are held against the oracle."""
