"""What a million runs and ten thousand live ones would cost: figures measured on this machine, multiplied, and a queue
simulated. `python bench/fleet_scale.py [--look 0.26] [--row 1900] [--runs 1000000] [--live 10000]`"""

from __future__ import annotations

import argparse
import heapq
import random


def main() -> None:
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("--look", type=float, default=0.26, help="CPU seconds a reading takes (bench/fleet.py)")
    told.add_argument("--walk", type=float, default=0.00042, help="CPU seconds a run that has not changed costs a scan")
    told.add_argument("--row", type=float, default=1900, help="bytes a run takes in the store")
    told.add_argument("--runs", type=int, default=1_000_000)
    told.add_argument("--live", type=int, default=10_000)
    told.add_argument("--minutes", type=float, default=10.0, help="between two looks at a live run")
    asked = told.parse_args()
    cores = asked.live * asked.look / (60 * asked.minutes)
    print("| what | figure |\n|---|---|")
    print(f"| first scan of {asked.runs} runs | {asked.runs * asked.look / 3600:.0f} core-hours |")
    print(f"| scan that finds nothing new | {asked.runs * asked.walk / 60:.0f} minutes of one core |")
    print(f"| store | {asked.runs * asked.row / 1e9:.1f} GB |")
    print(f"| looks at {asked.live} live runs every {asked.minutes:g} min | {cores:.1f} cores busy |")
    print(f"| writes to the store by looks | {asked.live / (60 * asked.minutes):.1f} transactions a second |\n")
    print("| cores | looks that wait, 95 % | wait s, median | wait s, 95 % | wait s, worst |\n|---|---|---|---|---|")
    for count in sorted({max(1, round(cores * share)) for share in (0.9, 1.1, 1.25, 1.5, 2.0)}):
        print("| " + " | ".join(queue(asked.live, asked.minutes * 60, asked.look, count)) + " |")


def queue(live: int, every: float, look: float, cores: int, rounds: int = 6) -> list[str]:
    """Looks come due at random moments of each round and take an exponential time; a free core takes the next one."""
    draw = random.Random(16)
    due = sorted(number * every + draw.random() * every for number in range(rounds) for _ in range(live))
    free = [0.0] * cores
    heapq.heapify(free)
    waits, waiting, begins = [], [], []
    for at in due:
        start = max(at, heapq.heappop(free))
        heapq.heappush(free, start + draw.expovariate(1 / look))
        waits.append(start - at)
        heapq.heappush(begins, start)
        while begins and begins[0] <= at:
            heapq.heappop(begins)
        waiting.append(len(begins))
    waits.sort()
    waiting.sort()
    shown = waits[len(waits) // 2], waits[int(0.95 * len(waits))], waits[-1]
    return [str(cores), str(waiting[int(0.95 * len(waiting))]), *(f"{one:.2f}" for one in shown)]


if __name__ == "__main__":
    main()
