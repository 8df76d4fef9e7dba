"""Programs of products of powers: their closed-form limits and where they are attained."""
