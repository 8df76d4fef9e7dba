"""Random tests of the suite, tried on many more cases than each time."""

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_campaign(title: str, *tests: str, without: str = "none") -> None:
    """Run tests on the cases that the command line asks for, say the counts, and exit.

    A failure's report has the seed of its case, or the text that Hypothesis reduced it to.
    """
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--count", type=int, default=1000, help="cases a test (default 1000)")
    asked = parser.parse_args()
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--campaign", f"{asked.seed}:{asked.count}",
         "--deselect", f"tests/{without}",
         *(f"tests/{test}" for test in tests)],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.stdout.write(done.stdout)
    for counts in re.findall(r"^counts: .*", done.stdout, re.MULTILINE):
        print(counts)
    counts = re.findall(r"(\d+ (?:passed|failed|skipped|errors?))", done.stdout)
    print(f"{title}: {asked.count} cases a test from seed {asked.seed}; "
          f"tests: {', '.join(counts) or 'none'}; {time.monotonic() - start:.0f} s")  # fmt: skip
    sys.exit(done.returncode)
