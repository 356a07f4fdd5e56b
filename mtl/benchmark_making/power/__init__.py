"""Power: the smallest differences that tests show, and the rows and seeds that a difference needs."""
