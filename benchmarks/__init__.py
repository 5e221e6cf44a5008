"""Speed and memory, measured as ratios in one run. Each file is a command of its own."""
