"""What each command prints: the module bears the name of the command."""
