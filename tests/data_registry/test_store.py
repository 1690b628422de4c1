"""The clean-up removes what nobody needs, and never what anybody may need."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from data_registry.blobs import Blobs
from data_registry.holders import this_process
from data_registry.identity import sha256
from data_registry.ledger import Lease, Origin, Result
from data_registry.store import GarbageReport, RepairReport, Store, StoreInUseError

HERE = Origin("run", "holder")


def _refer(store: Store, *digests: str) -> None:
    record = '{"views":["' + '","'.join(digests) + '"]}'
    key = sha256(record.encode())
    store.ledger.commit(Lease(key, 1, "x"), Result(key, "edit", "i", "kept", "ok", "", record, key), HERE)


def _age(store: Store, *digests: str) -> None:
    for digest in digests:
        os.utime(store.blobs.path(digest), (time.time() - 7200, time.time() - 7200))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.at(tmp_path / "new" / "store") as opened:
        yield opened


def test_only_old_blobs_that_no_result_refers_to_are_removed(store: Store) -> None:
    wanted, young, old = (store.blobs.put(content) for content in (b"wanted", b"young", b"old"))
    _refer(store, wanted)
    _age(store, wanted, old)
    assert store.collect_garbage(dry_run=True) == GarbageReport(2, 1, 0)
    assert store.blobs.has(old)
    assert store.collect_garbage() == GarbageReport(2, 1, 0)
    assert [store.blobs.has(digest) for digest in (wanted, young, old)] == [True, True, False]
    assert store.collect_garbage() == GarbageReport(2, 0, 0)


def test_an_old_blob_that_is_put_again_is_young(store: Store) -> None:
    digest = store.blobs.put(b"content")
    _age(store, digest)
    store.blobs.put(b"content")
    assert store.collect_garbage() == GarbageReport(1, 0, 0)


def test_a_blob_that_is_put_again_during_the_clean_up_stays(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = store.blobs.put(b"content")
    _age(store, digest)
    listed = list(store.blobs.names())
    monkeypatch.setattr(store.blobs, "names", lambda: (store.blobs.put(b"content"), iter(listed))[1])
    assert store.collect_garbage() == GarbageReport(1, 0, 0)
    assert store.blobs.get(digest) == b"content"


def test_half_written_files_of_killed_writers_go_when_old(store: Store) -> None:
    folder = Path(store.blobs.path(store.blobs.put(b"x"))).parent
    for name, age in ((".a.1.part", 7200), (".b.2.part", 0)):
        (folder / name).write_bytes(b"half")
        os.utime(folder / name, (time.time() - age, time.time() - age))
    assert store.collect_garbage(dry_run=True).leftovers_removed == 1
    assert store.collect_garbage().leftovers_removed == 1
    assert sorted(path.name for path in folder.glob(".*")) == [".b.2.part"]


def test_a_blob_store_in_memory_keeps_its_young_blobs(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path / 'ledger.sqlite'}", "memory://store-test") as store:
        assert isinstance(store.blobs, Blobs)
        digest = store.blobs.put(b"content")
        assert store.collect_garbage() == GarbageReport(1, 0, 0)
        assert store.collect_garbage(older_than_s=-5.0) == GarbageReport(0, 1, 0)
        assert not store.blobs.has(digest)


def _edit(store: Store, *digests: str) -> str:
    views = ",".join(f'{{"edited":"{digest}","source_sha256":"{"0" * 64}"}}' for digest in digests)
    record = f'{{"candidates":[{{"views":[{views}]}}]}}'
    key = sha256(record.encode())
    store.ledger.commit(Lease(key, 1, "x"), Result(key, "edit", key, "kept", "ok", "", record, key), HERE)
    return key


def test_a_repair_forgets_only_results_whose_blobs_are_missing_or_corrupt(store: Store) -> None:
    sound, missing, corrupt = (store.blobs.put(content) for content in (b"sound", b"missing", b"corrupt"))
    whole, holed, rotten = _edit(store, sound), _edit(store, sound, missing), _edit(store, corrupt)
    store.blobs.delete(missing)
    Path(store.blobs.path(corrupt)).write_bytes(b"other")
    assert store.repair(dry_run=True) == RepairReport(3, 2, 2)
    assert len(store.ledger.results([whole, holed, rotten])) == 3
    assert store.repair() == RepairReport(3, 2, 2)
    assert list(store.ledger.results([whole, holed, rotten])) == [whole]
    assert not store.blobs.has(corrupt)
    assert store.repair() == RepairReport(1, 0, 0)


def test_young_blobs_stay_while_somebody_works(store: Store) -> None:
    store.blobs.put(b"of a running build")
    store.ledger.claim("edit", [("1" * 64, "item")], Origin("run", this_process()), 60.0)
    with pytest.raises(StoreInUseError, match="1 items of this store are being worked on"):
        store.collect_garbage(older_than_s=0)
    assert store.collect_garbage() == GarbageReport(1, 0, 0)
