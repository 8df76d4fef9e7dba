"""Random clusters and models: the searches against loops over every plan."""

from campaign import run_campaign

if __name__ == "__main__":
    run_campaign(
        "searched plans",
        "simulator/transformer/test_plans.py::test_the_search_finds_what_trying_everything_finds",
        "simulator/sparse_mlp/test_search.py::test_a_drawn_problem_too",
    )
