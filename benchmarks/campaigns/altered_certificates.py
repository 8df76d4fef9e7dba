"""Certificates of the examples and of random programs with one thing changed: all noticed."""

from campaign import run_campaign

if __name__ == "__main__":
    run_campaign(
        "altered certificates",
        "problems/test_certificate_file.py::test_whatever_is_changed_is_noticed",
        "kernel/test_sum_certificate.py::test_what_is_changed_is_noticed",
    )
