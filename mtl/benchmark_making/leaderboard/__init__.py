"""A leaderboard of one's own: submissions in a folder are checked, scored on hidden labels, and shown on a static site."""
