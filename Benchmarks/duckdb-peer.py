#!/usr/bin/env python3
"""DuckDB beside the others in `compare`, through its Python package: what its engine does, and one call for each figure.

    pip install duckdb
    COMPARE_PYTHON=python3 swift run -c release --package-path Benchmarks compare

`compare` starts it with the path of a database and of a file with all persons. It answers "ready", or "missing" and why; then,
for each line of JSON with a query and how often to run it, a line with the seconds of the fastest run and the answer. Times are
taken here, around the call and the fetching of its rows, so that the pipe is not in them.
"""

import json
import sys
import time


def main():
    try:
        import duckdb
    except ImportError as error:
        print("missing", error, flush=True)
        return
    path, persons = sys.argv[1:]
    connection = duckdb.connect(path)
    connection.execute(
        "CREATE TABLE IF NOT EXISTS person (id BIGINT PRIMARY KEY, name VARCHAR NOT NULL, age BIGINT NOT NULL, "
        "score DOUBLE NOT NULL, email VARCHAR NOT NULL, createdAt DOUBLE NOT NULL)"
    )
    if connection.execute("SELECT count(*) FROM person").fetchone()[0] == 0:
        connection.execute("COPY person FROM '%s' (DELIMITER ',', HEADER false, QUOTE '')" % persons)
        connection.execute("CHECKPOINT")
    print("ready", duckdb.__version__, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        best = float("inf")
        for _ in range(request["times"]):
            if request.get("reopens"):
                connection.close()
                connection = duckdb.connect(path)
            began = time.perf_counter()
            cursor = connection.execute(request["sql"], request.get("arguments", []))
            rows = cursor.fetchmany(request["first"]) if "first" in request else cursor.fetchall()
            best = min(best, time.perf_counter() - began)
        print(json.dumps({"seconds": best, "answer": sum(row[0] for row in rows)}), flush=True)


main()
