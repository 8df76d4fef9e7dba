"""Random programs, of products and with sums: the closed form against numerical optima."""

from campaign import run_campaign

if __name__ == "__main__":
    run_campaign(
        "numerical optima",
        "algebra/products/test_solve.py",
        "algebra/sums/test_solve.py",
        "algebra/certify/test_theorems_of_sums.py",
        "problems/test_file.py::test_random_monomial_problems_agree_with_the_engine",
        without="algebra/sums/test_solve.py::test_random_programs_are_of_every_kind",  # counts
    )
