"""Answers of people: forms for a sample of a task's rows (`form`), and runs of what people answered (`people`)."""
