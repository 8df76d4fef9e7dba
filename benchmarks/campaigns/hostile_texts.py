"""Texts and files that nobody meant: read, or refused in one line."""

from campaign import run_campaign

if __name__ == "__main__":
    run_campaign(
        "hostile texts",
        "language/test_parsing.py::test_any_text_is_read_or_refused_in_one_line",
        "language/test_parsing.py::test_carets_are_powers",
        "language/test_units.py::test_any_text_is_read_or_refused_in_one_line",
        "problems/test_file.py::test_damaged_problems_end_in_one_line",
        "measure/readers/test_readers.py::test_damaged_files_end_in_one_line",
        "cli/test_hostile.py::test_any_setting",
        "cli/test_hostile.py::test_any_arguments",
        "cli/commands/test_asymptotics.py::test_any_arguments",
    )
