"""The main job: a sample meets its snapshot and the arms, and every answer is graded by one loop."""
