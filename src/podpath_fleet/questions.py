"""What is asked of the tables of a run, in SQL by DuckDB: who differs from its peers, which faults
are the same, what became of every bundle, and what changed since another run.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from podpath.net.errors import MissingExtra, UsageError
from podpath_fleet.store import BUNDLES, FACTS, FINDINGS

LEAST_PEERS = 5
"""Nodes that a pool has to have before one of them can differ from the others."""
MAJORITY = 0.8
"""The share of a pool that has to agree in a fact before it is the pool's."""
MISSING = "(not in its evidence)"


class Outlier(NamedTuple):
    """Nodes of a pool that have another value of a fact than their peers."""

    pool: str
    fact: str
    value: str
    usual: str
    nodes: int
    of: int
    names: str
    """The nodes' names, some of them where there are many."""


class FaultGroup(NamedTuple):
    """Nodes that have the same fault."""

    check: str
    severity: str
    certain: bool
    nodes: int
    pools: str
    since: str
    """When the first evidence that shows it was taken; empty where none says when."""
    claim: str
    """What one of them says."""
    evidence: str
    text: str
    history: str
    names: str


class StateCount(NamedTuple):
    """How many bundles ended in a way."""

    state: str
    verdict: str
    bundles: int
    why: str


class FactChange(NamedTuple):
    """What differs on a node between two runs."""

    node: str
    pool: str
    what: str
    before: str
    after: str


_OUTLIERS = f"""
with pools as (
  select pool, count(distinct node) as size from bundles where state = 'done' and node <> '' group by pool
), told as (
  select distinct on (pool, node, fact) pool, node, fact, value from facts where node <> ''
), counted as (
  select pool, fact, value, count(*) as nodes from told group by pool, fact, value
), usual as (
  select counted.pool, fact, value as usual, nodes, size from counted join pools using (pool)
  where size >= {LEAST_PEERS} and nodes >= {MAJORITY} * size
), others as (
  select told.pool, told.fact, told.value, usual.usual, told.node, usual.size
  from told join usual using (pool, fact) where told.value <> usual.usual
  union all
  select usual.pool, usual.fact, '{MISSING}', usual.usual, known.node, usual.size
  from usual
  join (select distinct pool, node from bundles where state = 'done' and node <> '') as known using (pool)
  left join told on told.pool = known.pool and told.node = known.node and told.fact = usual.fact
  where told.node is null
  union all
  select told.pool, told.fact, told.value, '{MISSING}', told.node, pools.size
  from told join pools using (pool)
  join (select pool, fact, count(*) as nodes from told group by pool, fact) as rare using (pool, fact)
  where pools.size >= {LEAST_PEERS} and rare.nodes <= {1 - MAJORITY:.4f} * pools.size
)
select pool, fact, value, usual, count(*) as nodes, any_value(size) as size,
  array_to_string(list_slice(list(node order by node), 1, 10), ', ') as names
from others group by pool, fact, value, usual order by nodes, pool, fact, value
"""
_FAULTS = """
select "check", min(severity), bool_or(certain), count(distinct node) as nodes,
  array_to_string(list_slice(list_sort(list(distinct pool)), 1, 5), ', '),
  coalesce(min(nullif(taken, '')), ''), min(claim), min(evidence), min(text), max(history),
  array_to_string(list_slice(list_sort(list(distinct node)), 1, 10), ', ')
from findings
where severity in ('cause', 'fault', 'risk')
group by "check", regexp_replace(text, '[0-9a-f.:]*[0-9][0-9a-f.:]*', '#', 'g')
order by nodes desc, "check"
"""
_STATES = """
select state, verdict, count(*) as bundles, max(why) from bundles
group by state, verdict, case when state = 'done' then '' else why end order by bundles desc, state, verdict
"""
_CHANGES = """
with earlier as (
  select distinct on (node, fact) node, pool, fact, value from before_facts where node <> ''
), later as (
  select distinct on (node, fact) node, pool, fact, value from facts where node <> ''
), faults as (
  select coalesce(a.node, b.node) as node, coalesce(b.pool, a.pool) as pool,
    'fault ' || coalesce(a."check", b."check") as what,
    case when a.node is null then '' else 'there' end as earlier,
    case when b.node is null then '' else 'there' end as later
  from (select distinct node, pool, "check" from before_findings where severity in ('cause', 'fault', 'risk')) as a
  full join (select distinct node, pool, "check" from findings where severity in ('cause', 'fault', 'risk')) as b
  on a.node = b.node and a."check" = b."check"
  where a.node is null or b.node is null
)
select coalesce(earlier.node, later.node) as node, coalesce(later.pool, earlier.pool) as pool,
  coalesce(earlier.fact, later.fact) as what, coalesce(earlier.value, '') as old, coalesce(later.value, '') as new
from earlier full join later on earlier.node = later.node and earlier.fact = later.fact
where earlier.value is distinct from later.value
union all select node, pool, what, earlier, later from faults
order by what, node
"""


class FleetTables:
    """The tables of one run, or of one and an earlier one, to be asked."""

    def __init__(self, folder: str, before: str | None = None) -> None:
        """Open a run's tables; `UsageError` where it has none."""
        try:
            duckdb: Any = import_module("duckdb")
        except ImportError as error:
            raise MissingExtra("a fleet needs an extra: pip install 'podpath[fleet]'") from error
        self._connection = duckdb.connect()
        self._connection.execute("set autoinstall_known_extensions = false")
        self._open(folder, "")
        if before is not None:
            self._open(before, "before_")

    def _open(self, folder: str, prefix: str) -> None:
        for name in (BUNDLES, FINDINGS, FACTS):
            path = Path(folder) / name
            if not path.exists():
                raise UsageError(
                    f"{folder}: expected the tables of a run that has ended; `podpath fleet` with "
                    "the same --out goes on with one that has not"
                )
            quoted = str(path).replace("'", "''")
            view = f"{prefix}{name.partition('.')[0]}"
            self._connection.execute(
                f"create view {view} as select * from read_parquet('{quoted}')"
            )

    def list_outliers(self) -> list[Outlier]:
        """Return what nodes differ in from most of their pool, rare differences first."""
        return [Outlier(*row) for row in self._ask(_OUTLIERS)]

    def list_faults(self) -> list[FaultGroup]:
        """Return the faults with the nodes that have them, frequent ones first."""
        return [FaultGroup(*row) for row in self._ask(_FAULTS)]

    def count_states(self) -> list[StateCount]:
        """Return what became of the bundles."""
        return [StateCount(*row) for row in self._ask(_STATES)]

    def list_changes(self) -> list[FactChange]:
        """Return what differs from the earlier run, node by node."""
        return [FactChange(*row) for row in self._ask(_CHANGES)]

    def _ask(self, question: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._connection.execute(question).fetchall()
        return rows
