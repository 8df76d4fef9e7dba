"""Random quotients, linear programs, cones and signs: exact answers against numbers."""

from campaign import run_campaign

if __name__ == "__main__":
    run_campaign(
        "exact algebra",
        "algebra/growth/test_asymptotics.py",
        "algebra/exact/test_simplex.py",
        "algebra/exact/test_cone.py",
        "algebra/exact/test_domain.py",
    )
