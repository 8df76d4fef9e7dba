"""How quotients of sums grow along a path, decided exactly."""
