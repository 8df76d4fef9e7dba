"""Readers of files of measurements, whatever wrote them."""
