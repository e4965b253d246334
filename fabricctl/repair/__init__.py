"""The fewest moves that repair the cabling, and the work order that lists them."""
