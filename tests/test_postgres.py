"""The PostgreSQL fixtures give a real server and separate databases."""

from pathlib import Path

import sqlalchemy

from tests.postgres import server_programs


def _names(url: str) -> set[str]:
    engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool)
    return set(sqlalchemy.inspect(engine).get_table_names())


def test_a_database_starts_empty_and_keeps_what_is_committed(postgres_database: str) -> None:
    assert _names(postgres_database) == set()
    engine = sqlalchemy.create_engine(postgres_database, poolclass=sqlalchemy.NullPool)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE kept (x INTEGER)"))
    assert _names(postgres_database) == {"kept"}


def test_another_test_has_another_database(postgres_database: str, postgres_url: str) -> None:
    assert _names(postgres_database) == set()
    assert sqlalchemy.make_url(postgres_database).database != sqlalchemy.make_url(postgres_url).database


def test_the_newest_server_is_taken(tmp_path: Path) -> None:
    for version in ("9.6", "15", "17"):
        for program in ("initdb", "pg_ctl"):
            path = tmp_path / version / "bin" / program
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    assert server_programs(tmp_path) == tmp_path / "17" / "bin"


def test_a_machine_without_a_server_has_no_programs(tmp_path: Path) -> None:
    assert server_programs(tmp_path) is None
