"""What is learnt at a numerical optimum: multipliers, elasticities, whole numbers."""
