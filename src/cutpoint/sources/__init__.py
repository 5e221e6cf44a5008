"""What users bring, as answers to the three questions of `cutpoint.questions`."""
