"""Benchmark making: suites from raw data, what their data gives away, answers of people, and leaderboards (README.md)."""
