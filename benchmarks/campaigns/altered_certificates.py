"""Certificate files with one or two things changed: no false theorem is accepted."""

from campaign import run_campaign

if __name__ == "__main__":
    run_campaign(
        "altered certificates",
        "problems/test_certificate_file.py::test_whatever_is_changed_is_noticed",
        "kernel/test_altered_theorems.py::test_no_false_theorem_is_accepted",
    )
