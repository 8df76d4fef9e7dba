"""The studies that can be explored on a page."""
