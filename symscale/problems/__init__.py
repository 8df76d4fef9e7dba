"""Problems of one's own: files, answers, sweeps, proofs."""
